import { query, type Query, type QueryRunner } from '../../db/query.ts';
import { firstIdAt } from '../../entities/index.ts';
import { storedNames, type EventName } from '../../events/catalogue.ts';
import { serialize, type EventRow } from '../../events/serialize.ts';
import { MINUTE_MS } from '../../time.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { START } from './paging.ts';

/** The most events that one page reads, however few of them match, so that a rare filter takes bounded time. */
const READ_MAX = 5000;

/** Ids contain the time of the replica that created them, which can differ from `occurred_at`. */
const SLACK_MS = MINUTE_MS;
const END = Date.UTC(9999, 0, 1);

type Row = EventRow & {
  actor_name: string | null;
  account_name: string | null;
  team_name: string | null;
  credential_name: string | null;
  /** The last event that the statement read. */
  last_id: string;
  read: number;
};

const displayName = (account: string) =>
  `coalesce(nullif(trim(concat_ws(' ', ${account}.first_name, ${account}.last_name)), ''), ${account}.email)`;

/**
 * Reads the latest events before $1, by one of the indexes, and shows those that match. Each row tells how far the
 * statement has read; without a match it is the only row.
 */
const eventsBy = (name: string, indexed: string): Query<Row> =>
  query<Row>(
    name,
    `with seen as materialized (
       select * from audit_event
       where id < $1 and id >= $2 ${indexed} order by id desc limit ${READ_MAX}
     ), found as (
       select * from seen
       where occurred_at >= $3 and occurred_at < $4
         and ($5 = '' or event = any(string_to_array($5, ' '))) and ($6 = '' or actor_id = $6)
         and ($7 = '' or team_id = $7) and ($8 = '' or account_id = $8)
         and ($9 = '' or credential_id = $9)
       order by id desc limit $10
     )
     select f.*, ${displayName('actor')} as actor_name, ${displayName('subject')} as account_name,
       t.name as team_name, coalesce(k.name, o.name, app.name) as credential_name, progress.last_id, progress.read
     from (select coalesce(min(id), '') as last_id, count(*)::int as read from seen) progress
     left join found f on true
     left join account actor on actor.id = f.actor_id
     left join account subject on subject.id = f.account_id
     left join team t on t.id = f.team_id
     left join api_key k on k.id = f.credential_id
     left join operator_key o on o.id = f.credential_id
     left join oauth_client app on app.id = f.client_id and f.actor_kind = 'oauth_grant'
     order by f.id desc`,
    { rows: 'many' },
  );

/** The index of a filter, the most selective one first. */
const PAGES = {
  keyId: eventsBy('audit_event_list_for_operator_of_key', 'and credential_id = $9'),
  actorId: eventsBy('audit_event_list_for_operator_of_actor', 'and actor_id = $6'),
  accountId: eventsBy('audit_event_list_for_operator_of_account', 'and account_id = $8'),
  teamId: eventsBy('audit_event_list_for_operator_of_team', 'and team_id = $7'),
} as const;
const allEvents = eventsBy('audit_event_list_for_operator', '');

export type AuditSearch = {
  readonly event?: EventName | undefined;
  readonly actorId?: string | undefined;
  readonly teamId?: string | undefined;
  /** The account that the event is about. */
  readonly accountId?: string | undefined;
  /** The credential that was used: an API key, operator key, grant or session. */
  readonly keyId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** Lists events that match all filters, newest first. A page can be short, or empty, although older events follow. */
export async function listAuditEvents(
  db: QueryRunner,
  cursors: Cursors,
  { cursor, limit, from, to, ...filters }: AuditSearch,
) {
  const { event, actorId = '', teamId = '', accountId = '', keyId = '' } = filters;
  const list = ['audit', event, actorId, teamId, accountId, keyId, from, to] as const;
  const [since, until] = [from?.getTime() ?? 0, to?.getTime() ?? END];
  const { id: before } = cursors.read(list, cursor) ?? START;
  const [indexed] = (['keyId', 'actorId', 'accountId', 'teamId'] as const).filter((name) => filters[name]);
  const rows = await db.query(indexed === undefined ? allEvents : PAGES[indexed], [
    before || firstIdAt('evt', new Date(until + SLACK_MS)),
    firstIdAt('evt', new Date(Math.max(0, since - SLACK_MS))),
    new Date(since).toISOString(),
    new Date(until).toISOString(),
    event === undefined ? '' : storedNames(event).join(' '),
    actorId,
    teamId,
    accountId,
    keyId,
    limit + 1,
  ]);
  const [progress] = rows;
  const matches = rows.filter(({ id }) => id !== null);
  const page = matches.slice(0, limit);
  const isCut = progress?.read === READ_MAX;
  const next = matches.length > limit ? page.at(-1)?.id : isCut ? progress.last_id : undefined;
  return {
    events: page.map(present),
    nextCursor: next === undefined ? null : cursors.write(list, { sort: '', id: next }),
    /** Whether older events were left out because too many had to be read. */
    isPartial: isCut && matches.length <= limit,
  };
}

function present(row: Row) {
  const { type, actor, target, data, ...event } = serialize(row, 'operator');
  const named = (id: string | null, name: string | null) => (id === null ? null : { id, name });
  return {
    id: event.id,
    occurredAt: event.occurredAt,
    event: type,
    actor: { kind: actor.kind, account: named(actor.id, row.actor_name), address: actor.address },
    credential: named(actor.credentialId, row.credential_name),
    account: named(event.accountId, row.account_name),
    team: named(event.teamId, row.team_name),
    target: target === null ? null : { type: target.type, id: target.id },
    requestId: event.requestId,
    clientRequestId: event.clientRequestId,
    details: data,
    count: event.count,
  };
}
