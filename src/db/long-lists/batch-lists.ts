import { AsyncLocalStorage } from 'node:async_hooks';
import { ProblemError } from '../../problems/error.ts';
import { BACKGROUND, Turns } from '../../turns.ts';

/** One call of a batch: it takes the turn of the batch with its first list. */
class BatchCall {
  readonly #enter: () => Promise<() => void>;
  #turn: Promise<() => void> | undefined;

  constructor(enter: () => Promise<() => void>) {
    this.#enter = enter;
  }

  async begin(): Promise<void> {
    await (this.#turn ??= this.#enter());
  }

  async end(): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    const leave = await turn;
    leave?.();
  }
}

const calls = new AsyncLocalStorage<BatchCall>();

/**
 * Orders the lists of a batch, and bounds their answers. After a call has begun to read a list, other calls of the batch
 * read none until it has made its answer, so that the rows of one list are in memory and not those of all: PostgreSQL
 * sends rows faster than they become an answer, and the garbage collector copies what waits.
 */
export class BatchLists {
  readonly #keptMax: number;
  #kept = 0;
  #longest = 0;
  readonly #turns = new Turns({ total: 1, perKey: 1 });

  /** @param keptMax how many bytes the answers that are kept can have beside the longest one, which has no limit */
  constructor(keptMax = Infinity) {
    this.#keptMax = keptMax;
  }

  /**
   * Counts the answer of a long list that is kept until all calls of the batch have theirs.
   * @throws batch_too_large (400)
   */
  keep(bytes: number): void {
    const [kept, longest] = [this.#kept + bytes, Math.max(this.#longest, bytes)];
    if (kept - longest > this.#keptMax)
      throw new ProblemError('batch_too_large', 'The lists of the batch are too long together. Send this call alone.');
    this.#kept = kept;
    this.#longest = longest;
  }

  /** Runs one call of the batch. Calls without lists run concurrently. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const call = new BatchCall(() => this.#turns.enter({ keys: [BACKGROUND], caller: undefined }));
    try {
      return await calls.run(call, work);
    } finally {
      await call.end();
    }
  }
}

/** Waits for the turn to read a list, if the present call belongs to a batch. */
export const beginList = async (): Promise<void> => calls.getStore()?.begin();

/** Gives up the turn until the next list, because the call waits for something else. */
export const endLists = async (): Promise<void> => calls.getStore()?.end();
