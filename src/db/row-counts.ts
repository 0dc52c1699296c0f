/** Rows from which a result is long: others would wait noticeably for a connection that reads so many. */
export const LONG_ROWS = 200;

const KNOWN_MAX = 10_000;

/** Remembers which results were long, by statement and first parameter. */
export class RowCounts {
  readonly #known = new Map<string, 'short' | 'long' | 'running'>();

  /** Runs the query of a list that is not known to be long. Meanwhile, its list is presumed long. */
  async count<Row>(key: string, run: () => Promise<Row[]>): Promise<Row[]> {
    if (!this.#known.has(key)) this.#known.set(key, 'running');
    try {
      const rows = await run();
      this.remember(key, rows.length);
      return rows;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  remember(key: string, rows: number): void {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(key, rows >= LONG_ROWS ? 'long' : 'short');
  }

  isLong(key: string): boolean {
    const last = this.#known.get(key);
    return last === 'long' || last === 'running';
  }
}
