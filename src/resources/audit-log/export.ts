import { csvLine } from '../../csv.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';
import { firstIdAt } from '../../entities/index.ts';
import { toEventName } from '../../events/catalogue.ts';
import { splitDetails, type EventRow } from '../../events/serialize.ts';
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

/** New columns are the last ones, for readers that know columns by their place. */
const CSV_COLUMNS = [...COLUMNS, 'client_request_id'] as const;

// Two queries, so that each can use an index in the order of its rows.
const eventsBy = (name: string, filter: string) =>
  query<EventRow>(
    name,
    `select ${COLUMNS.join(', ')} from audit_event
     where id > $1 and id < $2 and occurred_at >= $3 and occurred_at < $4 ${filter}
     order by id limit ${PAGE}`,
    { rows: 'many' },
  );
const allEvents = eventsBy('audit_event_list', '');
const eventsOfTeam = eventsBy('audit_event_list_of_one_team', 'and team_id = $5');

/** Ids contain the time of the replica that created them, which can differ from `occurred_at`. */
const SLACK_MS = MINUTE_MS;
const BEGINNING = new Date(0);
const END = new Date(Date.UTC(9999, 11, 31));

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Yields events as text, oldest first, in pages, so that few are in memory. */
export async function* exportEvents(
  db: QueryRunner,
  format: ExportFormat,
  { teamId, from = BEGINNING, to = END }: Range,
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLineOf : jsonLine;
  if (format === 'csv') yield csvLine(CSV_COLUMNS);
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

function toPublic(row: EventRow) {
  const { clientRequestId, data } = splitDetails(row);
  const [event, occurredAt] = [toEventName(row.event), iso(row.occurred_at)];
  return { ...row, event, occurred_at: occurredAt, details: data, client_request_id: clientRequestId };
}

const jsonLine = (row: EventRow): string => `${JSON.stringify(toPublic(row))}\n`;

function csvLineOf(row: EventRow): string {
  const event = toPublic(row);
  return csvLine(CSV_COLUMNS.map((column) => event[column]));
}
