import type { Pool } from 'pg';
import type { RunInSpan } from '../telemetry/span.ts';
import { alone, batches } from './pipeline.ts';
import { inTurns } from './concurrency.ts';
import type { Value } from './prepared-query.ts';

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

export function reader(pool: Pool, withSpan?: RunInSpan): Read {
  const together = batches(pool);
  const inTurn = inTurns();
  const read: Read = async <Row>({ name, text, kind }: Statement<Row>, values: readonly unknown[]) => {
    if (kind === undefined) return (await pool.query({ name, text, values: [...values] })).rows as Row[];
    const query = { name, text, values: values.map(valueOf) };
    const rows = await (kind === 'brief'
      ? together(query)
      : inTurn(`${name} ${String(values[0])}`, () => alone(pool, query)));
    return rows as Row[]; // the statement's declaration says what its SQL returns
  };
  return withSpan === undefined
    ? read
    : (query, values) => withSpan('postgresql', query.name, () => read(query, values));
}

/** Brief and long reads take text, bytes, numbers and null. */
function valueOf(value: unknown): Value {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (typeof value === 'number') return String(value);
  throw new TypeError(`No value of this read can be ${typeof value}.`);
}

/** A `timestamptz` as PostgreSQL writes it in UTC, as an ISO 8601 string. */
export const iso = (timestamp: string): string => new Date(timestamp).toISOString();

/** The same for a column that can be null. */
export const isoOrNull = (timestamp: string | null): string | null => (timestamp === null ? null : iso(timestamp));
