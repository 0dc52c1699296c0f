import type { PartReader } from './part-reader.ts';
import { toPgConnection, type DataRow } from './pg-internals.ts';
import { PreparedBatch } from './prepared-batch.ts';
import type { BoundQuery, TypeParsers } from './prepared-statement.ts';

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
