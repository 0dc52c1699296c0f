import { activeMembership } from '../../db/predicates.ts';
import { query, type QueryRunner } from '../../db/query.ts';

/** Bounds what one look costs, and is as many teams as a page shows as cards. */
const TEAMS_MAX = 8;

const sizesOfTeams = query<{ id: string; members: number }>(
  'team_count_members',
  `select own.team_id as id,
     (select count(*) from membership m where m.team_id = own.team_id and ${activeMembership('m')})::int as members
   from (
     select mine.team_id, mine.role_id from membership mine
     where mine.account_id = $1 and ${activeMembership('mine')} order by mine.joined_at, mine.id limit ${TEAMS_MAX}
   ) own
   join role r on r.id = own.role_id
   where 'access_dashboard' = any(r.permissions)`,
  { rows: 'many' },
);

/** Counts the active members of the teams that the user joined first, where the role of the user can list them. */
export const countMembers = (db: QueryRunner, accountId: string) => db.query(sizesOfTeams, [accountId]);
