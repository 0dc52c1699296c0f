import { statement, type Read } from '../../db/read.ts';
import type { EventRow } from './audit.schema.ts';

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

const eventsAfter = statement<EventRow>(
  'audit_events_after',
  `select ${COLUMNS.join(', ')} from audit_event
   where id > $1 and ($2::text is null or team_id = $2)
     and ($3::timestamptz is null or occurred_at >= $3) and ($4::timestamptz is null or occurred_at < $4)
   order by id limit ${PAGE}`,
);

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The events as text, the oldest first, some at a time: however many there are, few are in memory. */
export async function* exportEvents(
  read: Read,
  format: ExportFormat,
  { teamId, from, to }: Range,
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLine : jsonLine;
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`;
  for (let after = ''; ;) {
    const rows = await read(eventsAfter, [
      after,
      teamId ?? null,
      from?.toISOString() ?? null,
      to?.toISOString() ?? null,
    ]);
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
