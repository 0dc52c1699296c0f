import { activeMembership } from '../../db/predicates.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { getSeats, TAKEN_SEATS, WARNING_DAYS } from '../billing/seats.ts';

/** Bounds what one look costs. Of more teams, those that the user joined first are looked at. */
const TEAMS_MAX = 50;

const expiringKeys = (condition: string) =>
  `(select count(*) from api_key k where ${condition} and k.revoked_at is null
      and k.expires_at > now() and k.expires_at < now() + interval '${WARNING_DAYS} days')::int`;

type TeamRow = {
  id: string;
  name: string;
  slug: string;
  plan_id: string | null;
  addons: Record<string, number> | null;
  is_offered: boolean;
  sees_billing: boolean;
  /** Null if the user's role cannot act on it. */
  expiring_keys: number | null;
  taken: number | null;
};

const noticesOfTeams = query<TeamRow>(
  'team_list_notices',
  `select t.id, t.name, t.slug, s.plan_id, s.addons,
     exists (select from ownership_transfer o where o.team_id = t.id and o.nominee_id = $1 and o.expires_at > now())
       as is_offered,
     'access_billing' = any(r.permissions) as sees_billing,
     case when 'manage_api_keys' = any(r.permissions) then ${expiringKeys('k.team_id = t.id')} end as expiring_keys,
     case when r.permissions && array['invite_members', 'access_billing'] then ${TAKEN_SEATS} end as taken
   from (
     select mine.team_id, mine.role_id from membership mine
     where mine.account_id = $1 and ${activeMembership('mine')} order by mine.joined_at, mine.id limit ${TEAMS_MAX}
   ) own
   join team t on t.id = own.team_id
   join role r on r.id = own.role_id
   left join subscription s on s.team_id = t.id
   order by t.name, t.id`,
  { rows: 'many' },
);

const noticesOfAccount = query<{ expiring_keys: number }>(
  'account_find_notices',
  `select ${expiringKeys('k.account_id = $1 and k.team_id is null')} as expiring_keys`,
);

type Kind = 'ownership' | 'keys' | 'seats';

/** Whether at most a tenth of the seats, or one, is left. */
const isNearlyFull = (taken: number, seats: number): boolean => seats - taken <= Math.max(1, seats / 10);

/**
 * Lists what waits for the user, the most urgent first: ownership that is offered, keys that expire soon, and teams
 * with few free seats. Contains only what the user can act on.
 */
export async function listNotices(db: QueryRunner, plans: Parameters<typeof getSeats>[0], accountId: string) {
  const [teams, [own]] = await Promise.all([
    db.query(noticesOfTeams, [accountId]),
    db.query(noticesOfAccount, [accountId]),
  ]);
  const of = (kind: Kind, { id, name, slug, sees_billing: seesBilling }: TeamRow, count: number) => ({
    kind,
    team: { id, name, slug, seesBilling },
    count,
  });
  const free = (row: TeamRow) => {
    const seats = getSeats(plans, row);
    return row.taken !== null && isNearlyFull(row.taken, seats)
      ? [of('seats', row, Math.max(0, seats - row.taken))]
      : [];
  };
  return [
    ...teams.filter(({ is_offered }) => is_offered).map((row) => of('ownership', row, 1)),
    ...(own === undefined || own.expiring_keys === 0
      ? []
      : [{ kind: 'keys' as Kind, team: null, count: own.expiring_keys }]),
    ...teams.flatMap((row) => (row.expiring_keys ? [of('keys', row, row.expiring_keys)] : [])),
    ...teams.flatMap(free),
  ];
}
