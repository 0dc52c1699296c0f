import { JsonList } from '../db/lists/json-list.ts';
import { ProblemError } from '../problems/error.ts';
import type { Middleware } from './middlewares.ts';

/** Returns a list from a resolver, whose declared type is that of its items. */
export const asItems = async <Item>(list: Promise<JsonList<Item>>): Promise<Item[]> =>
  (await list) as unknown as Item[]; // what `presentLists` lets through

/** Bounds the lists that the answers of a batch have together. */
export class BatchLists {
  readonly #keptMax: number;
  #kept = 0;
  #longest = 0;

  /** @param keptMax how many bytes the lists can have beside the longest one, which has no limit */
  constructor(keptMax: number) {
    this.#keptMax = keptMax;
  }

  /**
   * Counts a list that is kept until all calls of the batch have their answers.
   * @throws batch_too_large (400)
   */
  keep({ byteLength }: JsonList): void {
    const [kept, longest] = [this.#kept + byteLength, Math.max(this.#longest, byteLength)];
    if (kept - longest > this.#keptMax)
      throw new ProblemError('batch_too_large', 'The lists of the batch are too long together. Send this call alone.');
    this.#kept = kept;
    this.#longest = longest;
  }
}

/**
 * Presents lists as PostgreSQL made them: `test/db/lists.test.ts` checks that each has the fields of its schema.
 * @param validate tRPC's middleware that validates all other outputs
 */
export const presentLists =
  <C extends { readonly batch?: BatchLists | null }>(validate: Middleware<C>): Middleware<C> =>
  async (options) => {
    const result = await options.next();
    if (!result.ok || !(result.data instanceof JsonList))
      return validate({ ...options, next: () => Promise.resolve(result) });
    options.ctx.batch?.keep(result.data);
    return result;
  };
