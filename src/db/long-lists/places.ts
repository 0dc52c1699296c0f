import { SECOND_MS } from '../../time.ts';
import { Turns } from '../../turns.ts';
import type { Caller } from '../turns/caller.ts';

export type PlaceLimits = {
  /** How many requests read lists of a kind at once, of all accounts, of an account and of a credential. */
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

/** Pages are lists of bounded length, which are read at once. Long lists are read in parts. */
export type ListKind = 'page' | 'long';

type Held = { readonly kind: ListKind; readonly leave: Promise<() => void> };

/**
 * Bounds the lists in memory: a request that reads them has one place until its response is sent, so that two requests
 * cannot wait for each other. Pages have places of their own, because long lists keep theirs for seconds.
 */
export class ListPlaces {
  readonly #places: Readonly<Record<ListKind, Places>>;
  readonly #held = new WeakMap<Caller, Held>();

  constructor(limits: PlaceLimits) {
    this.#places = { page: new Places(limits), long: new Places(limits) };
  }

  /** How many requests have a place or wait for one. */
  get length(): number {
    return this.#places.page.length + this.#places.long.length;
  }

  /**
   * Waits for a place until the request is over. One for long lists is enough for pages; one for pages is given up first.
   * @throws BusyError, CallerGoneError
   */
  async take(caller: Caller, kind: ListKind): Promise<void> {
    let held = this.#held.get(caller);
    if (held === undefined || (held.kind === 'page' && kind === 'long')) {
      held = { kind, leave: this.#change(caller, kind, held) };
      this.#held.set(caller, held);
    }
    await held.leave;
  }

  /** Gives up the place of a request, until it takes the next one. */
  async giveUp(caller: Caller): Promise<void> {
    const held = this.#held.get(caller);
    this.#held.delete(caller);
    const leave = await held?.leave;
    leave?.();
  }

  async #change(caller: Caller, kind: ListKind, before: Held | undefined): Promise<() => void> {
    const leaveBefore = await before?.leave;
    leaveBefore?.();
    return this.#places[kind].enter(caller);
  }
}

/**
 * The places of one kind. The credentials of an account take turns, and so do accounts. Who waits for an account that
 * does not read gets its place after `readMs`.
 */
class Places {
  readonly #readMs: number;
  readonly #credentials: Turns;
  readonly #accounts: Turns;
  readonly #held = new Set<Caller>();
  /** When a caller was first seen to be sent an answer that others waited for. */
  readonly #readingSince = new Map<Caller, number>();
  #clock: NodeJS.Timeout | undefined;

  constructor({ total, perAccount, perCredential, queuePerKey, waitMs, readMs }: PlaceLimits) {
    this.#readMs = readMs;
    this.#credentials = new Turns({ queuePerKey, waitMs, total: Infinity, perKey: perCredential });
    this.#accounts = new Turns({ queuePerKey, waitMs, total, perKey: perAccount });
  }

  get length(): number {
    return this.#credentials.queued;
  }

  /** Waits for a place until the request is over. @returns a function that gives it up, once */
  async enter(caller: Caller): Promise<() => void> {
    const leaveCredential = await this.#credentials.enter({ keys: [caller.credential], caller });
    try {
      const entering = this.#accounts.enter({ keys: [caller.account], caller });
      this.#watch();
      const leaveAccount = await entering;
      this.#held.add(caller);
      let isTaken = true;
      const leave = () => {
        if (!isTaken) return;
        isTaken = false;
        caller.over.removeEventListener('abort', leave);
        this.#held.delete(caller);
        this.#readingSince.delete(caller);
        leaveAccount();
        this.#watch();
        leaveCredential();
      };
      if (caller.over.aborted) leave();
      else caller.over.addEventListener('abort', leave);
      return leave;
    } catch (error) {
      leaveCredential();
      throw error;
    }
  }

  #watch(): void {
    if (this.#clock === undefined && this.#accounts.isShort)
      this.#clock = setInterval(() => this.#cutOffSlowest(), this.#readMs / CHECKS_PER_READ).unref();
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
    if (slowest !== undefined && since !== undefined && now - since >= this.#readMs) slowest.cutOff();
  }
}
