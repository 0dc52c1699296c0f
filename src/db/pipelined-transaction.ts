import type { Pool, Submittable } from 'pg';
import { toPgConnection, type DataRow, type RowDescription } from './pg-internals.ts';
import type { BoundQuery, Rows } from './pipeline.ts';
import { sendSettings } from './transaction-pooler.ts';
import { PreparedQuery, type TypeParsers } from './prepared-query.ts';

/**
 * Runs statements in one transaction and one round trip. Without a sync message between them, PostgreSQL runs them
 * in one implicit transaction, which it commits at the sync after the last one; after a failure it skips the rest
 * and rolls back. A statement cannot depend on what an earlier one returned, because all are sent before the first
 * is answered. Each has its own snapshot, so it sees changes that were committed while an earlier one waited for a lock.
 * @returns the rows of each statement
 */
export const pipelineTransaction = (pool: Pool, statements: readonly BoundQuery[]): Promise<Rows[]> =>
  new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        reject(connectError ?? new Error('The pool returned no connection.'));
        return;
      }
      // The query gets the error in its callback. An unhandled error event would crash the process.
      const onError = () => undefined;
      client.once('error', onError);
      client.query(
        new PreparedTransaction(statements, client, (error, results) => {
          client.removeListener('error', onError);
          release(error ?? undefined);
          if (error === null) resolve(results);
          else reject(error);
        }),
      );
    });
  });

class PreparedTransaction implements Submittable {
  /** Called once. A mutable property, because pg wraps it to enforce its timeout. */
  callback: (error: Error | null, results: Rows[]) => void;
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
    this.callback = callback;
    this.#parts = statements.map(
      ({ name, text, values }, i) =>
        new PreparedQuery(name, text, values, types, (error, rows) => {
          this.#failure ??= error;
          this.#results[i] = rows;
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
    this.callback(error, []);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  get #part(): PreparedQuery | undefined {
    return this.#parts[this.#current];
  }
}
