import { defineEntity, p } from '@mikro-orm/core';
import { base, text } from './base.ts';
import { productPermissions } from './permission-catalogue.ts';
import { roleNameSkeleton } from './role-name.ts';
import { Team } from './team.ts';

/** The permissions a role can hold (spec 2.10), in the order of responses. */
export const PERMISSIONS = [
  'edit_team_settings',
  'access_dashboard',
  'remove_members',
  'invite_members',
  'access_billing',
  'manage_api_keys',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Permissions by which a member gives access to others or takes it. A role that holds one is privileged. */
export const PRIVILEGED_PERMISSIONS: readonly Permission[] = [
  'invite_members',
  'remove_members',
  'manage_api_keys',
  'edit_team_settings',
];

/** The ids of the roles that every team has. Their rows belong to no team. */
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
    /** Comparison key of the name; null if the previous version created the role. */
    nameSkeleton: text()
      .nullable()
      .hidden()
      .onCreate((role: { name: string }) => roleNameSkeleton(role.name))
      .onUpdate((role: { name: string }) => roleNameSkeleton(role.name)),
    permissions: p.array().columnType('text[]').$type<Permission[]>(),
    /** Of the catalogue. Apart from `permissions`, so that processes of the previous version and the API see only the six. */
    productPermissions: productPermissions(),
    /** Whether one of them is sensitive: written with them, so that no reader needs the catalogue. */
    isSensitive: p.boolean().default(false),
    /** Counts the changes. */
    version: p.integer().default(0),
  },
  uniques: [
    {
      name: 'role_name_unique',
      expression: 'create unique index "role_name_unique" on "role" ("team_id", lower("name"))',
    },
    { name: 'role_name_skeleton_unique', properties: ['team', 'nameSkeleton'] },
  ],
  checks: [
    { name: 'role_permissions_check', expression: `permissions <@ array[${quoted}]` },
    {
      name: 'role_name_reserved_check',
      expression: `team_id is null or name_skeleton <> all (array[${SYSTEM_ROLES.map(({ name }) => `'${roleNameSkeleton(name)}'`).join(', ')}])`,
    },
  ],
});

export class Role extends RoleSchema.class {
  get isSystemRole(): boolean {
    return this.team === null;
  }
}
RoleSchema.setClass(Role);
