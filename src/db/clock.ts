import { query, type QueryRunner } from './query.ts';
import { SECOND_MS } from '../time.ts';

/** The largest difference without a warning. */
export const SKEW_MS_MAX = 5 * SECOND_MS;

export const CLOCK_TEXT = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms';
const CLOCK = query<{ ms: number }>('database_describe_clock', CLOCK_TEXT);

/** Reads the time at which the transaction began, by the clock of the database, which decides what has expired. */
export const nowStep = [query<{ now: string }>('database_find_time', 'select now() as now'), []] as const;

/** Returns the time that `nowStep` has read. */
export const toNow = ([row]: readonly { readonly now: string }[]): Date => new Date(row?.now ?? NaN);

/** Measures how far the clock of the database is ahead of this machine's, in milliseconds. @param ask reads the former */
export async function measureSkewMs(ask: () => Promise<number>): Promise<number> {
  const askedAt = Date.now();
  const ms = await ask();
  return Math.round(ms - (askedAt + Date.now()) / 2);
}

export const readSkewMs = (db: QueryRunner): Promise<number> =>
  measureSkewMs(async () => (await db.query(CLOCK, []))[0]?.ms ?? 0);
