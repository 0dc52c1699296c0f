export type TurnLimits = {
  /** How many run at once, in total and for each key. */
  readonly total: number;
  readonly perKey: number;
  /** How many can run or wait for each key. Default: any number. */
  readonly queuePerKey?: number;
  /** How long one can wait. Default: as long as it takes. */
  readonly waitMs?: number;
  /** Returns the error of who is refused. Default: {@link BusyError}. */
  readonly refuse?: () => Error;
};

/** Who waits, until `over` aborts. */
type Waiting = { readonly over: AbortSignal };

/** Who wants to run: without a caller, it is a job or a command, which waits as long as it takes. */
export type Claim = {
  readonly keys: readonly string[];
  readonly caller: Waiting | undefined;
  /** How many can run or wait for the first key, if not `queuePerKey`. */
  readonly queueMax?: number | undefined;
};

/** The key of jobs and of commands. */
export const BACKGROUND = 'background';

type Waiter = { readonly keys: readonly string[]; readonly start: () => void };

/** Too much waits for an account or a team, or for too long. */
export class BusyError extends Error {
  override name = 'BusyError';
  override message = 'Too many concurrent requests of this account or for this team.';
}

/** The client closed the connection before its work began or ended. */
export class CallerGoneError extends Error {
  override name = 'CallerGoneError';
  override message = 'The client closed the connection.';
}

/**
 * Bounds what runs at once, fairly. Work runs while none of its keys has reached its limit; otherwise it waits, without
 * what it will need, such as a connection. Free places go to the callers (the first key) in turn, and to the work of one
 * caller in order.
 */
export class Turns {
  readonly #limits: Required<TurnLimits>;
  readonly #running = new Map<string, number>();
  readonly #queued = new Map<string, number>();
  /** By the first key; the one whose turn is next comes first. */
  readonly #lanes = new Map<string, Waiter[]>();
  #total = 0;

  constructor(limits: TurnLimits) {
    this.#limits = { queuePerKey: Infinity, waitMs: Infinity, refuse: () => new BusyError(), ...limits };
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
   * @throws the error of `refuse` if too much waits for a key, or for too long; CallerGoneError if the caller has gone meanwhile
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
  async enter({ keys, caller, queueMax }: Claim): Promise<() => void> {
    const { queuePerKey } = this.#limits;
    const isFull = (key: string, i: number) =>
      count(this.#queued, key) >= (i === 0 ? (queueMax ?? queuePerKey) : queuePerKey);
    if (caller !== undefined && keys.some(isFull)) throw this.#limits.refuse();
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

  /** Begins a turn without waiting. @returns a function that ends it; undefined if no place is free */
  tryEnter(keys: readonly string[]): (() => void) | undefined {
    if (!this.#canStart(keys)) return undefined;
    for (const key of keys) add(this.#queued, key, 1);
    this.#start(keys);
    return () => this.#leave(keys);
  }

  /** Whether a key has all places that it can have. */
  isAtLimit(key: string): boolean {
    return !this.#hasShare([key]);
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

  #wait(keys: readonly string[], caller: Waiting | undefined): Promise<void> {
    const [lane = ''] = keys;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        stopWaiting();
        this.#remove(lane, waiter);
        reject(error);
      };
      const onGone = () => fail(new CallerGoneError());
      const { waitMs, refuse } = this.#limits;
      const isBounded = caller !== undefined && waitMs < Infinity;
      const timer = isBounded ? setTimeout(() => fail(refuse()), waitMs).unref() : undefined;
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
      // All that waits there has its key: thousands need not be looked at.
      if (this.isAtLimit(lane)) continue;
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

/** Returns `work`, each call of which waits for those before: a flush, for example, for what a timer is writing. */
export function oneAtATime<Options extends readonly unknown[], Result>(
  work: (...options: Options) => Promise<Result>,
): (...options: Options) => Promise<Result> {
  const turns = new Turns({ total: 1, perKey: 1 });
  return (...options) => turns.run({ keys: [BACKGROUND], caller: undefined }, () => work(...options));
}

const count = (counts: ReadonlyMap<string, number>, key: string): number => counts.get(key) ?? 0;

function add(counts: Map<string, number>, key: string, change: number): void {
  const changed = count(counts, key) + change;
  if (changed === 0) counts.delete(key);
  else counts.set(key, changed);
}
