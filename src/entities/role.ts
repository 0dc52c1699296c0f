import { defineEntity, p } from '@mikro-orm/core';
import { base, text } from './base.ts';
import { Team } from './team.ts';

/** The permissions a role can hold (spec 2.10), in the order answers list them. */
export const PERMISSIONS = [
  'edit_team_settings',
  'access_dashboard',
  'remove_members',
  'invite_members',
  'access_billing',
  'manage_api_keys',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The roles every team has. Their ids are these words; the rows belong to no team. */
export const SYSTEM_ROLES = [
  { id: 'owner', name: 'Owner', permissions: PERMISSIONS },
  { id: 'member', name: 'Member', permissions: ['access_dashboard'] },
  { id: 'guest', name: 'Guest', permissions: [] },
] as const satisfies readonly { id: string; name: string; permissions: readonly Permission[] }[];

const quoted = PERMISSIONS.map((permission) => `'${permission}'`).join(', ');

const RoleSchema = defineEntity({
  name: 'Role',
  tableName: 'role',
  properties: {
    ...base('role'),
    /** Null for the system roles. */
    team: () => p.manyToOne(Team).nullable().deleteRule('cascade'),
    name: text().collation('C'),
    permissions: p.array().columnType('text[]').$type<Permission[]>(),
  },
  uniques: [
    {
      name: 'role_name_unique',
      expression: 'create unique index "role_name_unique" on "role" ("team_id", lower("name"))',
    },
  ],
  checks: [{ name: 'role_permissions_check', expression: `permissions <@ array[${quoted}]` }],
});

export class Role extends RoleSchema.class {
  get isSystemRole(): boolean {
    return this.team === null;
  }
}
RoleSchema.setClass(Role);
