import { SECOND_MS } from '../time.ts';
import type { Caller } from './caller.ts';
import { Turns } from './turns.ts';

export type PlaceLimits = {
  /** How many requests read lists at once, of all accounts, of an account and of a credential. */
  readonly total: number;
  readonly perAccount: number;
  readonly perCredential: number;
  /** How many can hold a place or wait for one, of an account and of a credential. */
  readonly queuePerKey: number;
  readonly waitMs: number;
  /** How long a client can read an answer while another account waits for its place. */
  readonly readMs: number;
};

/** A list of 10,000 members is 2.5 MB, and about four times that until it is made. */
export const PLACE_LIMITS: PlaceLimits = {
  total: 12,
  perAccount: 2,
  perCredential: 2,
  queuePerKey: 100,
  waitMs: 10 * SECOND_MS,
  readMs: 5 * SECOND_MS,
};

const CHECKS_PER_READ = 10;

/**
 * Bounds the lists in memory: a request that reads them has a place until its response is sent. The credentials of an
 * account take turns, and so do accounts. Who waits for an account that does not read gets its place after `readMs`.
 */
export class ListPlaces {
  readonly #limits: PlaceLimits;
  readonly #credentials: Turns;
  readonly #accounts: Turns;
  readonly #held = new Set<Caller>();
  /** When a caller was first seen to be sent an answer that others waited for. */
  readonly #readingSince = new Map<Caller, number>();
  #clock: NodeJS.Timeout | undefined;

  constructor(limits: PlaceLimits) {
    const { total, perAccount, perCredential, ...queue } = limits;
    this.#limits = limits;
    this.#credentials = new Turns({ ...queue, total: Infinity, perKey: perCredential });
    this.#accounts = new Turns({ ...queue, total, perKey: perAccount });
  }

  /** How many requests have a place or wait for one. */
  get length(): number {
    return this.#credentials.queued;
  }

  /** Waits for a place. @returns a function that gives it up. @throws BusyError, CallerGoneError */
  async enter(caller: Caller): Promise<() => void> {
    const leaveCredential = await this.#credentials.enter({ keys: [caller.credential], caller });
    try {
      const entering = this.#accounts.enter({ keys: [caller.account], caller });
      this.#watch();
      const leaveAccount = await entering;
      this.#held.add(caller);
      return () => {
        this.#held.delete(caller);
        this.#readingSince.delete(caller);
        leaveAccount();
        this.#watch();
        leaveCredential();
      };
    } catch (error) {
      leaveCredential();
      throw error;
    }
  }

  #watch(): void {
    if (this.#clock === undefined && this.#accounts.isShort)
      this.#clock = setInterval(() => this.#cutOffSlowest(), this.#limits.readMs / CHECKS_PER_READ).unref();
  }

  /** Frees the place of the client that has been reading for the longest time, if another caller waits for a place. */
  #cutOffSlowest(): void {
    if (!this.#accounts.isShort) {
      clearInterval(this.#clock);
      this.#clock = undefined;
      this.#readingSince.clear();
      return;
    }
    const now = performance.now();
    for (const caller of this.#held)
      if (caller.isAnswered && !this.#readingSince.has(caller)) this.#readingSince.set(caller, now);
    // In the order of insertion: the first has been reading for the longest time.
    const [[slowest, since] = []] = this.#readingSince;
    if (slowest !== undefined && since !== undefined && now - since >= this.#limits.readMs) slowest.cutOff();
  }
}
