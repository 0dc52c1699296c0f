import { query, type QueryRunner } from '../../db/query.ts';
import { firstIdAt } from '../../entities/index.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { MINUTE_MS } from '../../time.ts';
import { presentEvent, type NamedRow } from './audit-log.schema.ts';

const displayName = (account: string) =>
  `coalesce(nullif(trim(concat_ws(' ', ${account}.first_name, ${account}.last_name)), ''), ${account}.email)`;

const FILTERS = { person: 'actor_id', key: 'credential_id', address: 'address' } as const;
type Filter = keyof typeof FILTERS;

/** What operators did is shown without their address and credential, so these filters do not find it either. */
const NOT_BY_OPERATOR = `and actor_kind not in ('operator_key', 'operator_session') and not starts_with(event, 'operator.')`;

/** An equality by which an index finds the rows, or a condition that does not apply without a value. */
const condition = (filter: Filter, place: number, driving: Filter | null): string =>
  filter === driving
    ? `and ${FILTERS[filter]} = $${place} ${NOT_BY_OPERATOR}`
    : `and ($${place}::text is null or ${FILTERS[filter]} = $${place})`;

/** Reads of the operator's backend are for the operator: there can be one each hour. */
const SHOWN = `not (event = 'operator.team_viewed' and actor_kind = 'operator_key')`;

// Only names of resources of this team and of the accounts in its events, so that an id reveals nothing of another team.
const eventsOfTeam = (name: string, driving: Filter | null, direction: 'asc' | 'desc') =>
  query<NamedRow>(
    direction === 'asc' ? `${name}_oldest` : name,
    `select e.*, ${displayName('actor')} as actor_name, ${displayName('subject')} as account_name, coalesce(used.name, app.name) as credential_name,
     coalesce(e.details ->> 'name', k.name, r.name, i.email, connected.name) as target_name
   from (
     select * from audit_event
     where team_id = $1 and id < $2 and id ${direction === 'asc' ? '>' : '>='} $3 and ${SHOWN} and ($4::text is null or starts_with(event, $4 || '.'))
       and ($6::timestamptz is null or occurred_at >= $6) and ($7::timestamptz is null or occurred_at < $7)
       ${condition('person', 8, driving)} ${condition('key', 9, driving)} ${condition('address', 10, driving)}
     order by id ${direction} limit $5
   ) e
   left join account actor on actor.id = e.actor_id
   left join account subject on subject.id = e.account_id
   left join api_key used on used.id = e.credential_id
   left join oauth_client app on app.id = e.client_id and e.actor_kind = 'oauth_grant'
   left join oauth_client connected on connected.id = e.client_id and starts_with(e.event, 'oauth_grant.')
   left join api_key k on k.id = e.target_id and k.team_id = e.team_id
   left join role r on r.id = e.target_id and (r.team_id = e.team_id or r.team_id is null)
   left join invitation i on i.id = e.target_id and i.team_id = e.team_id
   order by e.id ${direction}`,
    { rows: 'many' },
  );

const inOrder = (direction: 'asc' | 'desc') => ({
  all: eventsOfTeam('audit_event_list_of_team', null, direction),
  // One query for each index, in the order of their selectivity.
  filtered: [
    { filter: 'key', events: eventsOfTeam('audit_event_list_of_team_with_key', 'key', direction) },
    { filter: 'address', events: eventsOfTeam('audit_event_list_of_team_from_address', 'address', direction) },
    { filter: 'person', events: eventsOfTeam('audit_event_list_of_team_by_person', 'person', direction) },
  ] as const,
});
const ORDERS = { newest: inOrder('desc'), oldest: inOrder('asc') } as const;

type Page = {
  readonly teamId: string;
  readonly kind?: string | undefined;
  readonly person?: string | undefined;
  readonly key?: string | undefined;
  readonly address?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order?: keyof typeof ORDERS | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** Ids contain the time of the replica that created them, which can differ from `occurred_at`. */
const SLACK_MS = MINUTE_MS;

const FIRST_ID = '';
const AFTER_LAST_ID = 'evt~';

const idAt = (instant: string, slack: number): string =>
  firstIdAt('evt', new Date(Math.max(0, Date.parse(instant) + slack)));

/** Returns between which ids the page is: those of the days, and after the cursor in the order of the list. */
function findRange({ from, to, order }: Page, cursor: string | undefined): readonly [end: string, start: string] {
  const end = to === undefined ? AFTER_LAST_ID : idAt(to, SLACK_MS);
  const start = from === undefined ? FIRST_ID : idAt(from, -SLACK_MS);
  if (cursor === undefined) return [end, start];
  return order === 'oldest' ? [end, cursor > start ? cursor : start] : [cursor < end ? cursor : end, start];
}

/** Lists events of a team, by default newest first. */
export async function listTeamEvents(db: QueryRunner, cursors: Cursors, page: Page) {
  const { teamId, kind, person, key, address, from, to, order, limit } = page;
  const list = ['team audit', teamId, kind, person, key, address, from, to, order ?? 'newest'] as const;
  const after = cursors.read(list, page.cursor);
  const { all, filtered } = ORDERS[order ?? 'newest'];
  const { events: chosen = all } = filtered.find(({ filter }) => page[filter] !== undefined) ?? {};
  const range = [teamId, ...findRange(page, after?.id), kind ?? null, limit + 1, from ?? null, to ?? null];
  const rows = await db.query(chosen, [...range, person ?? null, key ?? null, address ?? null]);
  const events = rows.slice(0, limit).map(presentEvent);
  const last = rows.length > limit ? events.at(-1) : undefined;
  return { events, nextCursor: last === undefined ? null : cursors.write(list, { sort: '', id: last.id }) };
}
