import { query, type QueryRunner } from '../../db/query.ts';

const rolesForOperator = query<{ id: string; name: string }>(
  'operator_roles',
  `select id, name from role where (team_id is null and id <> 'owner') or team_id = $1
   order by team_id is not null, name, id`,
  { rows: 'many' },
);

/** Lists the roles that members of a team can get: those of the system, then those of the team. */
export const listAssignableRoles = async (db: QueryRunner, teamId: string) =>
  (await db.query(rolesForOperator, [teamId])).map(({ id, name }) => ({ id, name }));
