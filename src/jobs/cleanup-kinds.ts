import type { Config } from '../config/config.ts';
import type { EventName } from '../events/catalogue.ts';
import type { EventFields } from '../events/event.ts';
import { STEP_ROWS } from './steps.ts';

/** A row that a cleanup removed or revoked, with the columns that its `returning` names. */
export type CleanupRow = Record<string, string | null>;

/** Which event is recorded for a row: one, or none if removing it ends no access that was not revoked before. */
type Recorded = { readonly event: EventName; readonly fieldsOf: (row: CleanupRow) => readonly EventFields[] };

/** Deletes or revokes one kind of expired rows, in batches, as a job of its own. */
export type Cleanup = {
  /** The schedule, in crontab syntax. */
  readonly schedule: string;
  /** One batch: finds at most `STEP_ROWS` rows by an index on their expiry, and returns one row for each. */
  readonly batch: (config: Config) => string;
  readonly recorded?: Recorded;
};

/** Creates a cleanup of rows that must be deleted as soon as they expire. */
export const everyMinute = (batch: string | Cleanup['batch'], recorded?: Recorded): Cleanup => ({
  schedule: '* * * * *',
  batch: typeof batch === 'string' ? () => batch : batch,
  ...(recorded && { recorded }),
});

/** Creates an hourly cleanup. The minutes differ, so that they do not run at the same time. */
export const hourlyAt = (minute: number, batch: string | Cleanup['batch'], recorded?: Recorded): Cleanup => ({
  ...everyMinute(batch, recorded),
  schedule: `${minute} * * * *`,
});

type Rows = {
  readonly table: string;
  readonly key: string;
  /** The indexed expression, as the index spells it. `expires_at` if omitted. */
  readonly expiry?: string;
  /** The grace period of expired rows. */
  readonly keptFor?: string;
  /** The predicate of a partial index. */
  readonly where?: string;
};

/** The keys of the rows that expired first. Rows that a transaction has locked are left for the next run. */
export const expiredKeys = ({ table, key, expiry = 'expires_at', keptFor = '0', where = 'true' }: Rows): string =>
  `array(select ${key} from ${table} where ${expiry} < now() - interval '${keptFor}' and ${where}
     order by ${expiry} limit ${STEP_ROWS} for update skip locked)`;

export const remove = (rows: Rows, returning = '1 as removed'): string =>
  `delete from ${rows.table} where ${rows.key} = any(${expiredKeys(rows)}) returning ${returning}`;
