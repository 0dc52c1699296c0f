import type { Pool } from 'pg';
import { batches } from './batches.ts';
import { inTurns } from './lanes.ts';

/** A constant SQL text with a name, so that PostgreSQL plans it once a connection. */
export type Statement<Row> = {
  readonly name: string;
  readonly text: string;
  /** See `brief` and `long`. */
  readonly kind?: 'brief' | 'long';
  readonly row?: Row;
};

/** Declares a statement of the request path. `Row` is what each row looks like, `timestamptz` as text. */
export const statement = <Row>(name: string, text: string): Statement<Row> => ({ name, text });

/**
 * Declares a statement that only reads, waits for no lock and as a rule gives few rows: under load several
 * share a connection and a round trip, because none makes the others wait.
 */
export const brief = <Row>(name: string, text: string): Statement<Row> => ({ name, text, kind: 'brief' });

/**
 * Declares a statement that can give thousands of rows: few run at a time, so that their rows are
 * not all in memory together.
 */
export const long = <Row>(name: string, text: string): Statement<Row> => ({ name, text, kind: 'long' });

/** Runs a named statement on a pooled connection: one round trip, the rows as they come. */
export type Read = <Row>(query: Statement<Row>, values: readonly unknown[]) => Promise<Row[]>;

export function reader(pool: Pool): Read {
  const together = batches(pool);
  const inTurn = inTurns();
  return async <Row>(query: Statement<Row>, values: readonly unknown[]) => {
    const { name, text, kind } = query;
    const config = { name, text, values: values as unknown[] }; // pg does not write to it
    const { rows } = await (kind === 'brief'
      ? together(config)
      : kind === 'long'
        ? inTurn(`${name} ${String(values[0])}`, () => pool.query(config))
        : pool.query(config));
    return rows as Row[]; // the statement's declaration says what its SQL returns
  };
}

/** A `timestamptz` as PostgreSQL writes it in UTC, as an ISO 8601 string. */
export const iso = (timestamp: string): string => new Date(timestamp).toISOString();

/** The same for a column that can be null. */
export const isoOrNull = (timestamp: string | null): string | null => (timestamp === null ? null : iso(timestamp));
