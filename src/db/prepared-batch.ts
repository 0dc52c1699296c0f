import type { Submittable } from 'pg';
import { toPgConnection, type DataRow, type RowDescription, type Value } from './pg-internals.ts';
import { PreparedQuery, type TypeParsers } from './prepared-query.ts';
import { sendSettings } from './transaction-pooler.ts';

export type BoundQuery = { readonly name: string; readonly text: string; readonly values: readonly Value[] };
export type Rows = readonly object[];

/** Statements with one sync message: PostgreSQL runs them in one transaction and writes all answers at once. */
export class PreparedBatch implements Submittable {
  /**
   * Called once, with the rows of each statement; after a failure, with those of the statements before the one that
   * failed. A mutable property, because pg wraps it to enforce its timeout.
   */
  callback: (error: Error | null, results?: Rows[]) => void;
  readonly #parts: readonly PreparedQuery[];
  readonly #results: Rows[] = [];
  #failure: Error | null = null;
  #current = 0;
  #skipsCompletion = false;

  constructor(
    statements: readonly BoundQuery[],
    types: TypeParsers,
    callback: (error: Error | null, results: Rows[]) => void,
  ) {
    // Without results if the timeout of pg has passed.
    this.callback = (error, results = this.#results) => callback(error, results);
    this.#parts = statements.map(
      ({ name, text, values }, i) =>
        new PreparedQuery(name, text, values, types, (error, rows) => {
          this.#failure ??= error;
          if (this.#failure === null) this.#results[i] = rows;
        }),
    );
  }

  /** Name and text of the current statement. pg records prepared statements by them. */
  get name(): string {
    return this.#part?.name ?? '';
  }

  get text(): string {
    return this.#part?.text ?? '';
  }

  submit(pgConnection: unknown): Error | void {
    const connection = toPgConnection(pgConnection);
    connection.stream.cork();
    try {
      this.#skipsCompletion = sendSettings(connection);
      for (const part of this.#parts) {
        const error = part.send(connection);
        if (error !== undefined) return error;
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(description: RowDescription): void {
    this.#part?.handleRowDescription(description);
  }

  handleDataRow(row: DataRow): void {
    this.#part?.handleDataRow(row);
  }

  handleCommandComplete(): void {
    if (this.#skipsCompletion) {
      this.#skipsCompletion = false;
      return;
    }
    this.#part?.handleReadyForQuery();
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#results);
  }

  handleError(error: Error): void {
    this.callback(error, this.#results);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  get #part(): PreparedQuery | undefined {
    return this.#parts[this.#current];
  }
}
