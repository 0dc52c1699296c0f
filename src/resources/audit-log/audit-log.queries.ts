import { query, type QueryRunner } from '../../db/query.ts';
import { invalidInput } from '../../errors.ts';
import { presentEvent, type NamedRow } from './audit-log.schema.ts';

const displayName = (account: string) =>
  `coalesce(nullif(trim(concat_ws(' ', ${account}.first_name, ${account}.last_name)), ''), ${account}.email)`;

// Only names of resources of this team and of the accounts in its events, so that an id reveals nothing of another team.
const eventsOfTeam = query<NamedRow>(
  'audit_events_of_team',
  `select e.*, ${displayName('actor')} as actor_name, ${displayName('subject')} as account_name, used.name as credential_name,
     coalesce(e.details ->> 'name', k.name, r.name, i.email) as target_name
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

// A cursor is the id of an event that this team was shown.
const cursorOfTeam = query<{ id: string }>(
  'audit_cursor_of_team',
  'select id from audit_event where id = $1 and team_id = $2',
);

type Page = {
  readonly teamId: string;
  readonly kind?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** Lists events of a team, newest first. @throws validation_failed if the cursor is no event of the team */
export async function listTeamEvents(db: QueryRunner, { teamId, kind, cursor, limit }: Page) {
  const [known, rows] = await Promise.all([
    cursor === undefined ? null : db.query(cursorOfTeam, [cursor, teamId]),
    db.query(eventsOfTeam, [teamId, cursor ?? null, kind ?? null, limit + 1]),
  ]);
  if (known?.length === 0) throw invalidInput('/cursor', 'Use `nextCursor` of the previous page.');
  const events = rows.slice(0, limit).map(presentEvent);
  return { events, nextCursor: rows.length > limit ? (events.at(-1)?.id ?? null) : null };
}
