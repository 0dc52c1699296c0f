/**
 * A constant SQL text with a name, which PostgreSQL prepares once per connection. The name is the table, the operation, and
 * what tells it from others: `api_key_list_of_team` (`test/unit/statements.test.ts`).
 */
type Statement<Row> = { readonly name: string; readonly text: string; readonly row?: Row };

/** A named statement that only reads. */
export type Query<Row> = Statement<Row> & { readonly kind: 'query'; readonly rows: 'few' | 'many' };

/** A named statement that writes or locks. */
export type Command<Row> = Statement<Row> & { readonly kind: 'command' };

/**
 * Declares a statement that only reads and takes no locks. `Row` describes each row, with `timestamptz` as text.
 * @param options `rows: 'few'`, the default, shares a connection and a round trip with other queries, so it must
 *   be quick. Use `'many'` if there can be thousands of rows or if it can be slow: it gets a separate connection, for
 *   which credentials take turns.
 */
export function query<Row>(name: string, text: string, { rows = 'few' }: Partial<Pick<Query<Row>, 'rows'>> = {}) {
  const declared: Query<Row> = { kind: 'query', name, text, rows };
  return register(declared);
}

/** Declares a statement that inserts, updates, deletes or locks. It runs in a separate transaction. */
export function command<Row>(name: string, text: string) {
  const declared: Command<Row> = { kind: 'command', name, text };
  return register(declared);
}

const declarations = new Map<string, Query<unknown> | Command<unknown>>();

function register<Declared extends Query<unknown> | Command<unknown>>(declared: Declared): Declared {
  if (declarations.has(declared.name)) throw new Error(`Two statements have the name ${declared.name}.`);
  declarations.set(declared.name, declared);
  return declared;
}

/** Returns every statement that the modules imported so far declare. */
export const declaredStatements = () => [...declarations.values()];

/** Runs queries, each in one round trip. */
export type QueryRunner = {
  query<Row>(query: Query<Row>, values: readonly unknown[]): Promise<Row[]>;
};

/** A statement with its parameters: text, bytes, numbers and null. */
export type Step<Row = unknown> = readonly [statement: Query<Row> | Command<Row>, values: readonly unknown[]];

export type RowsOf<Steps extends readonly Step[]> = {
  [Index in keyof Steps]: Steps[Index] extends Step<infer Row> ? Row[] : never;
};

/** Converts a `timestamptz` from PostgreSQL’s text format in UTC to ISO 8601, to the millisecond. */
export const iso = (timestamp: string): string =>
  // By its parts, because `Date` took a tenth of the time of a long list. Other forms are years before 1 or after 9999.
  /^\d{4}-\d\d-\d\d .{8}(?:\.\d+)?\+00$/.test(timestamp)
    ? `${timestamp.slice(0, 10)}T${timestamp.slice(11, 19)}.${timestamp.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`
    : new Date(timestamp).toISOString();

/** Converts a nullable `timestamptz` to ISO 8601. */
export const isoOrNull = (timestamp: string | null): string | null => (timestamp === null ? null : iso(timestamp));
