import type { Submittable } from 'pg';
import { toPgConnection, type DataRow, type RowDescription } from './pg-internals.ts';
import { PreparedStatement, type BoundQuery, type Rows, type TypeParsers } from './prepared-statement.ts';
import { sendSettings } from '../pooler/transaction.ts';

/**
 * Statements for pg’s `client.query` with one sync message: PostgreSQL runs them in one transaction and writes all
 * answers at once.
 */
export class PreparedBatch implements Submittable {
  /**
   * Called once, with the rows of each statement; after a failure, with those of the statements before the one that
   * failed. A mutable property, because pg wraps it to enforce its timeout.
   */
  callback: (error: Error | null, results?: Rows[]) => void;
  readonly #types: TypeParsers;
  readonly #statements: readonly PreparedStatement[];
  readonly #results: Rows[] = [];
  #failure: Error | null = null;
  #current = 0;
  #skipsCompletion = false;

  constructor(
    queries: readonly BoundQuery[],
    types: TypeParsers,
    callback: (error: Error | null, results: Rows[]) => void,
  ) {
    // Without results if the timeout of pg has passed.
    this.callback = (error, results = this.#results) => callback(error, results);
    this.#types = types;
    this.#statements = queries.map((query) => new PreparedStatement(query));
  }

  /** Name and text of the current statement, at the end of the last one. pg records prepared statements by them. */
  get name(): string {
    return this.#statement?.query.name ?? '';
  }

  get text(): string {
    return this.#statement?.query.text ?? '';
  }

  submit(pgConnection: unknown): Error | void {
    const connection = toPgConnection(pgConnection);
    connection.stream.cork();
    try {
      this.#skipsCompletion = sendSettings(connection);
      for (const statement of this.#statements) {
        const error = statement.send(connection);
        if (error !== undefined) return error;
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(description: RowDescription): void {
    this.#statement?.describe(description, this.#types);
  }

  handleDataRow(row: DataRow): void {
    this.#statement?.add(row);
  }

  handleCommandComplete(): void {
    const statement = this.#statement;
    if (this.#skipsCompletion || statement === undefined) {
      this.#skipsCompletion = false;
      return;
    }
    statement.complete();
    this.#failure ??= statement.failure;
    if (this.#failure === null) this.#results.push(statement.rows);
    if (this.#current < this.#statements.length - 1) this.#current += 1;
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#results);
  }

  handleError(error: Error): void {
    this.callback(error, this.#results);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  get #statement(): PreparedStatement | undefined {
    return this.#statements[this.#current];
  }
}
