import { query, type QueryRunner } from '../../db/query.ts';
import { EVENTS, type EventName } from '../../events/catalogue.ts';
import { serialize, type EventRow } from '../../events/serialize.ts';
import type { Cursors } from '../../procedures/cursors.ts';

type Row = EventRow & { target_name: string | null };

// Only names of what is the account’s own, and of roles of the team in which it happened.
const eventsOfAccount = query<Row>(
  'audit_event_list_of_account',
  `select e.*, coalesce(e.details ->> 'name', k.name, c.name, connected.name, p.name, r.name, i.email) as target_name
   from (
     select * from audit_event where account_id = $1 and id < $2 order by id desc limit $3
   ) e
   left join api_key k on k.id = e.target_id and k.account_id = $1
   left join oauth_client c on c.id = e.target_id and c.account_id = $1
   left join oauth_client connected on connected.id = e.client_id and starts_with(e.event, 'oauth_grant.')
   left join passkey p on p.id = e.target_id and p.account_id = $1
   left join role r on r.id = e.target_id and (r.team_id = e.team_id or r.team_id is null)
   left join invitation i on i.id = e.target_id and i.invited_by_id = $1
   order by e.id desc`,
  { rows: 'many' },
);

/** Events without a session yet, of someone who proved by a password, passkey or emailed link to be the user. */
const PROVEN: ReadonlySet<EventName> = new Set<EventName>([
  'account.created',
  'account.email_verified',
  'account.email_changed',
  'account.password_reset',
  'session.created',
]);

const AFTER_LAST_ID = 'evt~';

type Page = { readonly cursor?: string | undefined; readonly limit: number };

/**
 * Lists the events about an account that its user can see, newest first. What others did is without their IP address,
 * session and request. A page can have fewer events than its limit, because those for operators are left out.
 */
export async function listOwnEvents(db: QueryRunner, cursors: Cursors, accountId: string, { cursor, limit }: Page) {
  const list = ['activity', accountId] as const;
  const { id: before } = cursors.read(list, cursor) ?? { id: AFTER_LAST_ID };
  const rows = await db.query(eventsOfAccount, [accountId, before, limit + 1]);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    events: page.filter(isVisible).map((row) => presentOwnEvent(row, accountId)),
    nextCursor: last === undefined ? null : cursors.write(list, { sort: '', id: last.id }),
  };
}

function isVisible(row: Row): boolean {
  const { type } = serialize(row, 'team');
  return EVENTS[type]?.audience !== 'operator' && !type.startsWith('operator.');
}

function presentOwnEvent(row: Row, accountId: string) {
  const { id, type, occurredAt, actor, teamId, target, data, count, ...request } = serialize(row, 'team');
  const isOwn = actor.id === accountId || (actor.kind === 'anonymous' && PROVEN.has(type));
  const { reason } = data;
  return {
    id,
    occurredAt,
    event: type,
    actorKind: actor.kind,
    isOwn,
    teamId,
    target: target === null ? null : { id: target.id, name: row.target_name },
    address: isOwn ? actor.address : null,
    requestId: isOwn ? request.requestId : null,
    clientRequestId: isOwn ? request.clientRequestId : null,
    reason: typeof reason === 'string' ? reason : null,
    count,
  };
}
