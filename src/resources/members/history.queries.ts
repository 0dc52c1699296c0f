import { query, type QueryRunner } from '../../db/query.ts';
import { firstIdAt } from '../../entities/index.ts';
import { DAY_MS } from '../../time.ts';

/** The number of days of the history. The audit log is kept for at least a year. */
const DAYS = 30;

/** Bounds what is read of a team with very many events: its history is shorter then. */
const EVENTS_MAX = 50_000;

const BEGIN = `event in ('team.created', 'member.added', 'invitation.accepted')`;
const END = `event in ('member.left', 'member.removed')`;

/**
 * Counts the memberships of each day (UTC), also inactive ones: those that exist, since they began, and those that
 * ended in these days, of which only events are left. A membership whose beginning is in no event is older.
 */
const membersByDay = query<{ day: string; members: number }>(
  'audit_event_count_members_by_day',
  `with recent as (
     select id, event, coalesce(account_id, actor_id) as account_id, occurred_at at time zone 'UTC' as at
     from audit_event where team_id = $1 and id >= $2 order by id desc limit ${EVENTS_MAX}
   ), window_start as (
     select greatest((now() at time zone 'UTC')::date - ${DAYS - 1}, (t.created_at at time zone 'UTC')::date,
       case when r.count = ${EVENTS_MAX} then r.first::date + 1 end) as day
     from team t, (select count(*) as count, min(at) as first from recent) r
     where t.id = $1
   ), numbered as (
     select *, count(*) filter (where ${END}) over
       (partition by account_id order by id rows between unbounded preceding and 1 preceding) as stay
     from recent where ${BEGIN} or ${END}
   ), ended as (
     select (min(at) filter (where ${BEGIN}))::date as first, (max(at) filter (where ${END}))::date as last
     from numbered group by account_id, stay having bool_or(${END})
   ), stays as (
     select (joined_at at time zone 'UTC')::date as first, null::date as last from membership where team_id = $1
     union all select first, last from ended
   )
   select to_char(d, 'YYYY-MM-DD') as day,
     (select count(*) from stays where (first is null or first <= d) and (last is null or last > d))::int as members
   from window_start, generate_series(window_start.day, (now() at time zone 'UTC')::date, interval '1 day') d
   order by d`,
  { rows: 'many' },
);

/** Returns the number of memberships at the end of each of the last 30 days, or since the team exists. */
export const readMembersByDay = (db: QueryRunner, teamId: string) =>
  db.query(membersByDay, [teamId, firstIdAt('evt', new Date(Date.now() - DAYS * DAY_MS))]);
