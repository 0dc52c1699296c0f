import type { Submittable } from 'pg';
import { toPgConnection, type DataRow, type PgConnection, type RowDescription, type Value } from './pg-internals.ts';
import { sendSettings, statementName } from './transaction-pooler.ts';

type Parse = (text: string) => unknown;
type Column = { readonly name: string; readonly parse: Parse };

/** The part of a pg client that converts values from text. */
export type TypeParsers = { getTypeParser(oid: number): Parse };

const columnsByName = new Map<string, readonly Column[]>();

/**
 * A named statement for pg’s `client.query`. It requests the column descriptions the first time only.
 * The query class of pg requests them each time, which took a fifth of the CPU time of a read.
 */
export class PreparedQuery implements Submittable {
  readonly name: string;
  readonly text: string;
  /** Called once, with the rows. A mutable property, because pg wraps it to enforce its timeout. */
  callback: (error: Error | null, rows: object[]) => void;
  readonly #values: readonly Value[];
  readonly #types: TypeParsers;
  readonly #rows: object[] = [];
  #columns: readonly Column[] | undefined;
  #failure: Error | null = null;

  constructor(
    name: string,
    text: string,
    values: readonly Value[],
    types: TypeParsers,
    callback: PreparedQuery['callback'],
  ) {
    this.name = name;
    this.text = text;
    this.callback = callback;
    this.#values = values;
    this.#types = types;
  }

  submit(pgConnection: unknown): Error | void {
    const connection = toPgConnection(pgConnection);
    connection.stream.cork();
    try {
      sendSettings(connection);
      const error = this.send(connection);
      if (error !== undefined) return error;
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  /** Sends the statement without a sync message, so that more statements can follow in the same transaction. */
  send(connection: PgConnection): Error | undefined {
    const { text } = this;
    const name = statementName(connection, this.name);
    const prepared = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name];
    if (name === '') {
      connection.parse({ name, text });
    } else if (prepared === undefined) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    } else if (prepared !== text) {
      return new Error(`Two statements have the name ${name}.`);
    }
    connection.bind({ statement: name, values: this.#values });
    this.#columns = columnsByName.get(this.name);
    if (this.#columns === undefined) connection.describe({ type: 'P', name: '' });
    connection.execute({ portal: '' });
    return undefined;
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#types.getTypeParser(dataTypeID) }));
    columnsByName.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: DataRow): void {
    const row: Record<string, unknown> = {};
    let i = 0;
    try {
      for (const { name, parse } of this.#columns ?? []) {
        const text = fields[i++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
    } catch (error) {
      this.#failure = error as Error; // type parsers throw nothing else
    }
    this.#rows.push(row);
  }

  handleReadyForQuery(): void {
    // A statement without rows has no description.
    if (this.#columns === undefined) columnsByName.set(this.name, []);
    this.callback(this.#failure, this.#rows);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
