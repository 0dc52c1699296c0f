import type { ActiveMembership } from '../../auth/principal.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { activeMembership, pendingInvitation } from '../../db/predicates.ts';
import type { Permission } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { DEFAULT_PLAN, getPlan, countSeats, type Plans } from './plans.ts';

type SeatsRow = {
  plan_id: string | null;
  addons: Record<string, number> | null;
  members: number;
  invitations: number;
};

/** The only count of used seats: one for each active member and each pending invitation of the team `t`. */
const MEMBERS = `(select count(*) from membership m where m.team_id = t.id and ${activeMembership('m')})::int`;
const INVITATIONS = `(select count(*) from invitation i where i.team_id = t.id and ${pendingInvitation('i')})::int`;
export const TAKEN_SEATS = `${MEMBERS} + ${INVITATIONS}`;

const SEATS = `select s.plan_id, s.addons, ${MEMBERS} as members, ${INVITATIONS} as invitations
   from team t
   left join subscription s on s.team_id = t.id
   where t.id = $1`;

/** Counts the seats of a team. */
export const seatsOfTeam = query<SeatsRow>('team_count_seats', SEATS);

/** The number of days before its end in which users are told that a key ends. */
export const WARNING_DAYS = 14;

const overviewOfTeam = query<SeatsRow & { api_keys: number; expiring_keys: number }>(
  'team_find_overview',
  `select s.*, k.*
   from (${SEATS}) s
   cross join (
     select count(*)::int as api_keys,
       (count(*) filter (where expires_at > now() and expires_at < now() + interval '${WARNING_DAYS} days'))::int
         as expiring_keys
     from api_key where team_id = $1 and revoked_at is null) k`,
);

/** Returns the seats of a team and how many are used. After a downgrade more can be used than the plan has. */
export async function readSeats(db: QueryRunner, plans: Plans, teamId: string) {
  return presentSeats(plans, requireRow(await db.query(seatsOfTeam, [teamId])));
}

/** Returns the numbers of the overview page. A number is null if the member's role does not allow it. */
export async function readOverview(db: QueryRunner, plans: Plans, { team, permissions }: ActiveMembership) {
  const row = requireRow(await db.query(overviewOfTeam, [team.id]));
  const countIfAllowed = (permission: Permission, count: number) => (permissions.includes(permission) ? count : null);
  return {
    ...presentSeats(plans, row),
    members: countIfAllowed('access_dashboard', row.members),
    invitations: countIfAllowed('invite_members', row.invitations),
    apiKeys: countIfAllowed('manage_api_keys', row.api_keys),
    expiringKeys: countIfAllowed('manage_api_keys', row.expiring_keys),
  };
}

/** Requires a free seat. Call it with the team locked, so that concurrent calls are counted. @throws seat_limit_reached */
export async function requireFreeSeat(db: QueryRunner, plans: Plans, teamId: string): Promise<void> {
  requireFree(plans, await db.query(seatsOfTeam, [teamId]));
}

/** Requires a free seat in the result of `seatsOfTeam`, which was read with the team locked. @throws seat_limit_reached */
export function requireFree(plans: Plans, rows: readonly SeatsRow[]): void {
  const { taken, seats, planName } = presentSeats(plans, requireRow(rows));
  if (taken < seats) return;
  throw new ProblemError(
    'seat_limit_reached',
    `All ${seats} seats of the plan ${planName} are taken by members and pending invitations.`,
  );
}

/** @throws team_not_found if the team was deleted concurrently */
function requireRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new ProblemError('team_not_found');
  return row;
}

/** Returns the seats of a team, of its plan and add-ons. */
export const getSeats = (plans: Plans, { plan_id, addons }: Pick<SeatsRow, 'plan_id' | 'addons'>): number =>
  countSeats(getPlan(plans, plan_id ?? DEFAULT_PLAN), addons ?? {});

function presentSeats(plans: Plans, { members, invitations, ...row }: SeatsRow) {
  const { name: planName } = getPlan(plans, row.plan_id ?? DEFAULT_PLAN);
  return { taken: members + invitations, seats: getSeats(plans, row), planName };
}
