import { query, type QueryRunner } from '../../db/query.ts';
import { presentEvent, type NamedRow } from './audit-log.schema.ts';

const nameOf = (account: string) =>
  `coalesce(nullif(trim(concat_ws(' ', ${account}.first_name, ${account}.last_name)), ''), ${account}.email)`;

// Names of things of this team alone, and of the people in its events: an id says nothing of another team.
const eventsOfTeam = query<NamedRow>(
  'audit_events_of_team',
  `select e.*, ${nameOf('actor')} as actor_name, ${nameOf('subject')} as account_name, used.name as credential_name,
     coalesce(k.name, r.name, i.email) as target_name
   from (
     select * from audit_event
     where team_id = $1 and ($2::text is null or id < $2) and ($3::text is null or starts_with(event, $3 || '.'))
     order by id desc limit $4
   ) e
   left join account actor on actor.id = e.actor_id
   left join account subject on subject.id = e.account_id
   left join api_key used on used.id = e.credential_id
   left join api_key k on k.id = e.target_id and k.team_id = e.team_id
   left join role r on r.id = e.target_id and (r.team_id = e.team_id or r.team_id is null)
   left join invitation i on i.id = e.target_id and i.team_id = e.team_id
   order by e.id desc`,
  { rows: 'many' },
);

type Which = {
  readonly teamId: string;
  readonly kind?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** The events of a team, the latest first, so many at a time. */
export async function listTeamEvents(db: QueryRunner, { teamId, kind, cursor, limit }: Which) {
  const rows = await db.query(eventsOfTeam, [teamId, cursor ?? null, kind ?? null, limit + 1]);
  const events = rows.slice(0, limit).map(presentEvent);
  return { events, nextCursor: rows.length > limit ? (events.at(-1)?.id ?? null) : null };
}
