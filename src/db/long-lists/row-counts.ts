import { LONG_ITEMS } from './parts.ts';

const KNOWN_MAX = 10_000;

/** Remembers which results were long, by statement and first parameter. */
export class RowCounts {
  readonly #isLong = new Map<string, boolean>();
  readonly #counting = new Map<string, Promise<void>>();

  /** Runs the query of a list that is not known to be long. */
  async count<Row>(key: string, run: () => Promise<Row[]>): Promise<Row[]> {
    const read = async () => {
      const rows = await run();
      this.remember(key, rows.length);
      return rows;
    };
    const isFirst = !this.#isLong.has(key) && !this.#counting.has(key);
    const reading = read();
    if (isFirst) this.#counting.set(key, this.#endOf(key, reading));
    return reading;
  }

  /**
   * Returns what to wait for before `isLong`: the first query of a list, if it is running. Others at the same time would
   * all read a long list at once, or all wait for a turn with a short one.
   */
  firstCount(key: string): Promise<void> | undefined {
    return this.#counting.get(key);
  }

  remember(key: string, rows: number): void {
    if (this.#isLong.size >= KNOWN_MAX) this.#isLong.clear();
    this.#isLong.set(key, rows > LONG_ITEMS);
  }

  isLong(key: string): boolean {
    return this.#isLong.get(key) === true;
  }

  async #endOf(key: string, reading: Promise<unknown>): Promise<void> {
    await Promise.allSettled([reading]);
    this.#counting.delete(key);
  }
}
