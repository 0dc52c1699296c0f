import { SECOND_MS } from '../../time.ts';
import { Turns } from '../../turns.ts';
import type { RequestCaller } from '../turns/request-caller.ts';

/** A list of 10,000 members is 2.7 MB. */
export const PLACE_LIMITS = {
  /** How many requests have long lists in memory, of all accounts and of an account. */
  total: 12,
  perAccount: 2,
  /** How many can have a place or wait for one, of an account. */
  queuePerAccount: 100,
  waitMs: 10 * SECOND_MS,
  /** How long a client can read an answer while another account waits for its place. */
  readMs: 5 * SECOND_MS,
};

export type PlaceLimits = Readonly<typeof PLACE_LIMITS>;

const CHECKS_PER_READ = 10;

/**
 * Bounds the long lists in memory: a request has one place from its first one until its response is sent. Who waits for an
 * account that does not read gets its place after `readMs`.
 */
export class ListPlaces {
  readonly #readMs: number;
  readonly #turns: Turns;
  readonly #taken = new Map<RequestCaller, Promise<void>>();
  /** When a caller was first seen to be sent an answer that others waited for. */
  readonly #readingSince = new Map<RequestCaller, number>();
  #clock: NodeJS.Timeout | undefined;

  constructor({ total, perAccount, queuePerAccount, waitMs, readMs }: PlaceLimits) {
    this.#readMs = readMs;
    this.#turns = new Turns({ total, perKey: perAccount, queuePerKey: queuePerAccount, waitMs });
  }

  /** How many requests have a place or wait for one. */
  get length(): number {
    return this.#turns.queued;
  }

  /**
   * Waits for a place until the request is over, unless it has one.
   * @throws BusyError, CallerGoneError
   */
  async take(caller: RequestCaller): Promise<void> {
    const taken = this.#taken.get(caller) ?? this.#enter(caller);
    this.#taken.set(caller, taken);
    await taken;
  }

  async #enter(caller: RequestCaller): Promise<void> {
    const entering = this.#turns.enter({ keys: [caller.account], caller });
    this.#watch();
    const leave = await entering.catch((error: unknown) => {
      this.#taken.delete(caller);
      throw error;
    });
    const end = () => {
      this.#taken.delete(caller);
      this.#readingSince.delete(caller);
      leave();
      this.#watch();
    };
    if (caller.over.aborted) end();
    else caller.over.addEventListener('abort', end, { once: true });
  }

  #watch(): void {
    if (this.#clock === undefined && this.#turns.isShort)
      this.#clock = setInterval(() => this.#cutOffSlowest(), this.#readMs / CHECKS_PER_READ).unref();
  }

  /** Frees the place of the client that has been reading for the longest time, if another caller waits for a place. */
  #cutOffSlowest(): void {
    if (!this.#turns.isShort) {
      clearInterval(this.#clock);
      this.#clock = undefined;
      this.#readingSince.clear();
      return;
    }
    const now = performance.now();
    for (const caller of this.#taken.keys())
      if (caller.isAnswered && !this.#readingSince.has(caller)) this.#readingSince.set(caller, now);
    // In the order of insertion: the first has been reading for the longest time.
    const [[slowest, since] = []] = this.#readingSince;
    if (slowest !== undefined && since !== undefined && now - since >= this.#readMs) slowest.cutOff();
  }
}
