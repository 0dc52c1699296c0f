import { defineEntity, p } from '@mikro-orm/core';
import { instant, text } from './base.ts';

/** A permission of the operator’s product: an area, a colon and an action. Those of Roster have no colon. */
export type ProductPermission = string;

/** The product permissions that something holds, in the order of their names. */
export const productPermissions = () => p.array().columnType('text[]').$type<ProductPermission[]>().defaultRaw(`'{}'`);

/** A text by language. */
export type LocalizedText = Readonly<Record<string, string>>;

/** The one row that counts the changes of the catalogue. */
const PermissionCatalogueSchema = defineEntity({
  name: 'PermissionCatalogue',
  tableName: 'permission_catalogue',
  properties: {
    id: text().primary(),
    version: p.integer().default(0),
    changedAt: instant().defaultRaw('now()'),
  },
});

export class PermissionCatalogue extends PermissionCatalogueSchema.class {}
PermissionCatalogueSchema.setClass(PermissionCatalogue);

/** A permission that the operator declares for their product. Its rows are replaced together, by one change of all. */
const DeclaredPermissionSchema = defineEntity({
  name: 'DeclaredPermission',
  tableName: 'declared_permission',
  properties: {
    name: text().collation('C').primary().$type<ProductPermission>(),
    /** The place in the catalogue. */
    position: p.integer(),
    title: p.json<LocalizedText>(),
    description: p.json<LocalizedText>().nullable(),
    /** The heading under which it is listed; null for its area. */
    heading: p.json<LocalizedText>().nullable(),
    /** Whether a role that holds it is privileged. */
    isSensitive: p.boolean(),
    /** The system roles that hold it besides the owner’s. */
    roles: p.array().columnType('text[]').$type<('member' | 'guest')[]>(),
    /** Whether API keys can hold it. */
    isForKeys: p.boolean(),
    /** Whether it is no longer given to roles and keys that do not hold it. */
    isDeprecated: p.boolean(),
  },
  checks: [
    {
      name: 'declared_permission_name_check',
      expression: `name ~ '^[a-z][a-z0-9_-]{0,49}:[a-z][a-z0-9_-]{0,49}$'`,
    },
    { name: 'declared_permission_roles_check', expression: `roles <@ array['member', 'guest']` },
  ],
});

export class DeclaredPermission extends DeclaredPermissionSchema.class {}
DeclaredPermissionSchema.setClass(DeclaredPermission);
