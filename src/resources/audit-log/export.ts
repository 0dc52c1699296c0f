import { query, type QueryRunner } from '../../db/query.ts';
import { firstIdAt } from '../../entities/index.ts';
import type { EventRow } from './audit-log.schema.ts';
import { MINUTE_MS } from '../../time.ts';

const PAGE = 1000;

export type Range = {
  readonly teamId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

const COLUMNS = [
  'id',
  'occurred_at',
  'event',
  'actor_kind',
  'actor_id',
  'credential_id',
  'client_id',
  'team_id',
  'account_id',
  'target_id',
  'address',
  'request_id',
  'count',
  'details',
] as const;

// Two, so that each has an index that gives its rows in order.
const eventsBy = (name: string, filter: string) =>
  query<EventRow>(
    name,
    `select ${COLUMNS.join(', ')} from audit_event
     where id > $1 and id < $2 and occurred_at >= $3 and occurred_at < $4 ${filter}
     order by id limit ${PAGE}`,
    { rows: 'many' },
  );
const allEvents = eventsBy('audit_events', '');
const eventsOfTeam = eventsBy('audit_events_of_one_team', 'and team_id = $5');

/** Ids are made by the clocks of replicas, and can run ahead of them. */
const SLACK_MS = MINUTE_MS;
const BEGINNING = new Date(0);
const END = new Date(Date.UTC(9999, 11, 31));

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The events as text, the oldest first, some at a time: however many there are, few are in memory. */
export async function* exportEvents(
  db: QueryRunner,
  format: ExportFormat,
  { teamId, from = BEGINNING, to = END }: Range,
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLine : jsonLine;
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`;
  const range = [firstIdAt('evt', new Date(to.getTime() + SLACK_MS)), from.toISOString(), to.toISOString()];
  for (let after = firstIdAt('evt', new Date(Math.max(0, from.getTime() - SLACK_MS))); ;) {
    const rows = await (teamId === undefined
      ? db.query(allEvents, [after, ...range])
      : db.query(eventsOfTeam, [after, ...range, teamId]));
    if (rows.length > 0) yield rows.map(line).join('');
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.id;
  }
}

const instantOf = (row: EventRow) => ({ ...row, occurred_at: new Date(row.occurred_at).toISOString() });

const jsonLine = (row: EventRow): string => `${JSON.stringify(instantOf(row))}\n`;

function csvLine(row: EventRow): string {
  const known = instantOf(row);
  return `${COLUMNS.map((column) => cell(known[column])).join(',')}\r\n`;
}

/**
 * A field of RFC 4180. What begins like a formula gets an apostrophe before it, so that a spreadsheet shows it
 * instead of computing it: some of the text, such as the request id, is the caller's own.
 */
function cell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
