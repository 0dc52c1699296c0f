import type { DataRow, PgConnection, RowDescription, Value } from './pg-internals.ts';
import { statementName } from '../pooler/transaction.ts';

export type BoundQuery = { readonly name: string; readonly text: string; readonly values: readonly Value[] };
export type Rows = readonly object[];

type Bindable = readonly [statement: { readonly name: string; readonly text: string }, values: readonly unknown[]];

/** Returns a statement with its parameters as PostgreSQL takes them. */
export const bind = ([{ name, text }, values]: Bindable): BoundQuery => ({
  name,
  text,
  values: values.map(toParameter),
});

/** Converts a parameter to text or bytes. Queries accept text, bytes, numbers and null only. */
export function toParameter(value: unknown): Value {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (typeof value === 'number') return String(value);
  throw new TypeError(`A parameter of a query cannot be of type ${typeof value}.`);
}

type Parse = (text: string) => unknown;
type Column = { readonly name: string; readonly parse: Parse };

/** The part of a pg client that converts values from text. */
export type TypeParsers = { getTypeParser(oid: number): Parse };

const columnsByName = new Map<string, readonly Column[]>();

/**
 * A named statement of a batch. It requests the column descriptions the first time only.
 * The query class of pg requests them each time, which took a fifth of the CPU time of a read.
 */
export class PreparedStatement {
  readonly query: BoundQuery;
  readonly rows: object[] = [];
  /** Why a value could not be converted. */
  failure: Error | null = null;
  #columns: readonly Column[] | undefined;

  constructor(query: BoundQuery) {
    this.query = query;
  }

  /** Sends the statement without a sync message, so that more statements can follow in the same transaction. */
  send(connection: PgConnection): Error | undefined {
    const { text, values } = this.query;
    const name = statementName(connection, this.query.name);
    const prepared = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name];
    if (name === '') {
      connection.parse({ name, text });
    } else if (prepared === undefined) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    } else if (prepared !== text) {
      return new Error(`Two statements have the name ${name}.`);
    }
    connection.bind({ statement: name, values });
    this.#columns = columnsByName.get(this.query.name);
    if (this.#columns === undefined) connection.describe({ type: 'P', name: '' });
    connection.execute({ portal: '' });
    return undefined;
  }

  describe({ fields }: RowDescription, types: TypeParsers): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID) }));
    columnsByName.set(this.query.name, this.#columns);
  }

  add({ fields }: DataRow): void {
    const row: Record<string, unknown> = {};
    let i = 0;
    try {
      for (const { name, parse } of this.#columns ?? []) {
        const text = fields[i++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
    } catch (error) {
      this.failure = error as Error; // type parsers throw nothing else
    }
    this.rows.push(row);
  }

  complete(): void {
    // A statement without rows has no description.
    if (this.#columns === undefined) columnsByName.set(this.query.name, []);
  }
}
