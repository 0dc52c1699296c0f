import type { ActiveMembership } from '../../auth/principal.ts';
import { list, type ListRunner } from '../../db/lists/list.ts';
import { privilegedRole } from '../../db/predicates.ts';
import { PERMISSIONS } from '../../entities/index.ts';
import { fullRoleOutput, roleOutput } from './roles.schema.ts';

const IN_ORDER = PERMISSIONS.map((permission) => `'${permission}'`).join(', ');

/** As `canGrant` and `sortPermissions` say. */
const ROLE = `id as "roleId", name, team_id is null as "isSystemRole",
     id <> 'owner' and permissions <@ string_to_array($2, ' ') and product_permissions <@ string_to_array($3, ' ')
       as "isAssignable",
     array(select known from unnest(array[${IN_ORDER}]) with ordinality of (known, place)
       where known = any(permissions) order by place) as permissions`;

const rolesWith = (columns: string) => ({
  select: `select ${columns}
   from role
   where team_id is null or team_id = $1
   order by team_id is not null, cardinality(role.permissions) * (team_id is null)::int desc, name, id`,
  from: 'role where team_id is null or team_id = $1',
});

const rolesOfTeam = list('role_list_of_team', roleOutput, rolesWith(ROLE));

const fullRolesOfTeam = list(
  'role_list_of_team_with_product',
  fullRoleOutput,
  rolesWith(`${ROLE}, product_permissions as "productPermissions", ${privilegedRole('role')} as "isPrivileged"`),
);

const valuesOf = ({ team, permissions, productPermissions }: ActiveMembership) => [
  team.id,
  permissions.join(' '),
  productPermissions.join(' '),
];

/** Lists the system roles, most permissions first, then the custom ones by name. `isAssignable` depends on the caller. */
export const listTeamRoles = (db: ListRunner, membership: ActiveMembership) =>
  db.list(rolesOfTeam, valuesOf(membership));

/** Lists the roles with what they hold of the product. */
export const listFullRoles = (db: ListRunner, membership: ActiveMembership) =>
  db.list(fullRolesOfTeam, valuesOf(membership));
