import { CallerGoneError, type Caller } from './caller.ts';

export type TurnLimits = {
  /** How many run at once, in total and for each key. */
  readonly total: number;
  readonly perKey: number;
  /** How many can run or wait for each key. */
  readonly queuePerKey: number;
  readonly waitMs: number;
};

/** Who wants to run: without a caller, it is a job or a command, which waits as long as it takes. */
export type Claim = { readonly keys: readonly string[]; readonly caller: Caller | undefined };

type Waiter = { readonly keys: readonly string[]; readonly start: () => void };

/** Too much waits for an account or a team, or for too long. */
export class BusyError extends Error {
  override name = 'BusyError';
  override message = 'Too many concurrent requests of this account or for this team.';
}

/**
 * A fair queue in front of connections. Work runs while none of its keys has reached its limit; otherwise it waits
 * without a connection. Free places go to the callers (the first key) in turn, and to the work of one caller in order.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #running = new Map<string, number>();
  readonly #queued = new Map<string, number>();
  /** By the first key; the one whose turn is next comes first. */
  readonly #lanes = new Map<string, Waiter[]>();
  #total = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** How much runs or waits. */
  get queued(): number {
    return this.#total + [...this.#lanes.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether something waits that could run if others left. */
  get isShort(): boolean {
    if (this.#total < this.#limits.total) return false;
    return [...this.#lanes.values()].some((waiters) => waiters.some(({ keys }) => this.#hasShare(keys)));
  }

  /**
   * Runs work in its turn.
   * @throws BusyError if too much waits for a key, or for too long; CallerGoneError if the caller has gone meanwhile
   */
  async run<Result>(claim: Claim, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(claim);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Waits for a turn like `run`. @returns a function that ends the turn */
  async enter({ keys, caller }: Claim): Promise<() => void> {
    if (caller !== undefined && keys.some((key) => count(this.#queued, key) >= this.#limits.queuePerKey))
      throw new BusyError();
    for (const key of keys) add(this.#queued, key, 1);
    try {
      if (this.#canStart(keys)) this.#start(keys);
      else await this.#wait(keys, caller);
    } catch (error) {
      for (const key of keys) add(this.#queued, key, -1);
      throw error;
    }
    return () => this.#leave(keys);
  }

  #canStart(keys: readonly string[]): boolean {
    return this.#total < this.#limits.total && this.#hasShare(keys);
  }

  #hasShare(keys: readonly string[]): boolean {
    return keys.every((key) => count(this.#running, key) < this.#limits.perKey);
  }

  #start(keys: readonly string[]): void {
    this.#total += 1;
    for (const key of keys) add(this.#running, key, 1);
  }

  #leave(keys: readonly string[]): void {
    this.#total -= 1;
    for (const key of keys) {
      add(this.#running, key, -1);
      add(this.#queued, key, -1);
    }
    this.#startNext();
  }

  #wait(keys: readonly string[], caller: Caller | undefined): Promise<void> {
    const [lane = ''] = keys;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        stopWaiting();
        this.#remove(lane, waiter);
        reject(error);
      };
      const onGone = () => fail(new CallerGoneError());
      const timer =
        caller === undefined ? undefined : setTimeout(() => fail(new BusyError()), this.#limits.waitMs).unref();
      const stopWaiting = () => {
        clearTimeout(timer);
        caller?.over.removeEventListener('abort', onGone);
      };
      const start = () => {
        stopWaiting();
        this.#start(keys);
        resolve();
      };
      const waiter = { keys, start };
      const waiters = this.#lanes.get(lane);
      if (waiters === undefined) this.#lanes.set(lane, [waiter]);
      else waiters.push(waiter);
      if (caller?.over.aborted) onGone();
      else caller?.over.addEventListener('abort', onGone);
    });
  }

  #startNext(): void {
    // A lane that gets its turn goes to the end, where this loop meets it again.
    for (const [lane, waiters] of this.#lanes) {
      if (this.#total >= this.#limits.total) return;
      const next = waiters.find(({ keys }) => this.#canStart(keys));
      if (next === undefined) continue;
      this.#remove(lane, next);
      if (waiters.length > 0) {
        this.#lanes.delete(lane);
        this.#lanes.set(lane, waiters);
      }
      next.start();
    }
  }

  #remove(lane: string, waiter: Waiter): void {
    const waiters = this.#lanes.get(lane) ?? [];
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.#lanes.delete(lane);
  }
}

const count = (counts: ReadonlyMap<string, number>, key: string): number => counts.get(key) ?? 0;

function add(counts: Map<string, number>, key: string, change: number): void {
  const changed = count(counts, key) + change;
  if (changed === 0) counts.delete(key);
  else counts.set(key, changed);
}
