import { toPgConnection, type DataRow, type PgConnection } from '../pipeline/pg-internals.ts';
import { PreparedBatch } from '../pipeline/prepared-batch.ts';
import type { BoundQuery, TypeParsers } from '../pipeline/prepared-statement.ts';
import { nextTurn, PART_ITEMS } from './parts.ts';

/** Works on some rows of a result, in their order. */
export type RowsConsumer = (rows: readonly object[]) => Promise<void> | void;

/** After this time PostgreSQL waits no longer, because the time limit of the statement (5 s) includes what it waits. */
export const PACED_MS = 2000;

/**
 * Passes the rows of a query on in parts of `PART_ITEMS`, and pauses the socket meanwhile. All that a socket has received,
 * up to 2 MiB, would otherwise be parsed at once, and wait in memory where the garbage collector copies it.
 */
export class PartReader {
  readonly #consume: RowsConsumer;
  readonly #onFailure: (error: Error) => void;
  #stream: PgConnection['stream'] | undefined;
  #rows: object[] = [];
  #isPaced = true;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;

  /** @param onFailure is called if `consume` fails before the last row was received */
  constructor(consume: RowsConsumer, onFailure: (error: Error) => void) {
    this.#consume = consume;
    this.#onFailure = onFailure;
  }

  attach(stream: PgConnection['stream']): void {
    this.#stream = stream;
    this.#timer = setTimeout(() => this.#stopPacing(), PACED_MS).unref();
  }

  /** @param rows those that were received and are not worked on yet */
  check(rows: object[]): void {
    this.#rows = rows;
    if (rows.length < PART_ITEMS || this.#working !== undefined) return;
    if (this.#isPaced) this.#stream?.pause();
    this.#working = this.#workOnParts();
    this.#working.catch(this.#onFailure);
  }

  /** Works on what was received last. Other queries can use the connection meanwhile. */
  async end(): Promise<void> {
    this.#stopPacing();
    await this.#working;
    if (this.#rows.length > 0) await this.#consume(this.#rows.splice(0));
  }

  /** Leaves the socket to the present query of the connection. */
  #stopPacing(): void {
    clearTimeout(this.#timer);
    if (this.#isPaced) this.#stream?.resume();
    this.#isPaced = false;
  }

  async #workOnParts(): Promise<void> {
    try {
      while (this.#rows.length >= PART_ITEMS) {
        await nextTurn();
        await this.#consume(this.#rows.splice(0, PART_ITEMS));
      }
      this.#working = undefined;
    } finally {
      if (this.#isPaced) this.#stream?.resume();
    }
  }
}

/** A query whose rows go to a reader part by part, while PostgreSQL waits. */
export class PacedBatch extends PreparedBatch {
  readonly #reader: PartReader;

  constructor(
    query: BoundQuery,
    types: TypeParsers,
    { reader, callback }: { readonly reader: PartReader; readonly callback: (error: Error | null) => void },
  ) {
    super([query], types, callback);
    this.#reader = reader;
  }

  override submit(connection: unknown): Error | void {
    this.#reader.attach(toPgConnection(connection).stream);
    return super.submit(connection);
  }

  override handleDataRow(row: DataRow): void {
    super.handleDataRow(row);
    this.#reader.check(this.rows);
  }
}
