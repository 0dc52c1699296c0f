import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, text } from './base.ts';
import { productPermissions } from './permission-catalogue.ts';
import { roleNameSkeleton } from './role-name.ts';
import { PERMISSIONS, type Permission } from './role.ts';

const quoted = PERMISSIONS.map((permission) => `'${permission}'`).join(', ');

/** A role that each new team gets, declared by the operator. Existing teams and their roles stay as they are. */
const RoleTemplateSchema = defineEntity({
  name: 'RoleTemplate',
  tableName: 'role_template',
  properties: {
    ...base('rtpl'),
    name: text().collation('C'),
    /** Comparison key of the name. */
    nameSkeleton: text()
      .hidden()
      .onCreate((template: { name: string }) => roleNameSkeleton(template.name))
      .onUpdate((template: { name: string }) => roleNameSkeleton(template.name)),
    permissions: p.array().columnType('text[]').$type<Permission[]>(),
    productPermissions: productPermissions(),
    /** Counts the changes. */
    version: p.integer().default(0),
    updatedAt: instant()
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
  uniques: [{ name: 'role_template_name_skeleton_unique', properties: ['nameSkeleton'] }],
  checks: [{ name: 'role_template_permissions_check', expression: `permissions <@ array[${quoted}]` }],
});

export class RoleTemplate extends RoleTemplateSchema.class {}
RoleTemplateSchema.setClass(RoleTemplate);
