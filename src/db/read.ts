import type { Pool } from 'pg';

/** A constant SQL text with a name, so that PostgreSQL plans it once a connection. */
export type Statement<Row> = { readonly name: string; readonly text: string; readonly row?: Row };

/** Declares a statement of the request path. `Row` is what each row looks like, `timestamptz` as text. */
export const statement = <Row>(name: string, text: string): Statement<Row> => ({ name, text });

/** Runs a named statement on a pooled connection: one round trip, the rows as they come. */
export type Read = <Row>(query: Statement<Row>, values: readonly unknown[]) => Promise<Row[]>;

export function reader(pool: Pool): Read {
  return async <Row>(query: Statement<Row>, values: readonly unknown[]) => {
    const { rows } = await pool.query({ name: query.name, text: query.text, values: values as unknown[] }); // pg does not write to it
    return rows as Row[]; // the statement's declaration says what its SQL returns
  };
}

/** A `timestamptz` as PostgreSQL writes it in UTC, as an ISO 8601 string. */
export const iso = (timestamp: string): string => new Date(timestamp).toISOString();

/** The same for a column that can be null. */
export const isoOrNull = (timestamp: string | null): string | null => (timestamp === null ? null : iso(timestamp));
