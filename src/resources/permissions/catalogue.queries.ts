import { query, type QueryRunner } from '../../db/query.ts';
import type { LocalizedText, ProductPermission } from '../../entities/index.ts';
import type { Declaration } from './permissions.schema.ts';

type Row = {
  version: number;
  name: ProductPermission | null;
  title: LocalizedText;
  description: LocalizedText | null;
  heading: LocalizedText | null;
  is_sensitive: boolean;
  roles: Declaration['roles'];
  is_for_keys: boolean;
  is_deprecated: boolean;
};

// One statement, so that the version is that of the permissions.
export const readCatalogueStatement = query<Row>(
  'permission_catalogue_find',
  `select c.version, d.name, d.title, d.description, d.heading, d.is_sensitive, d.roles, d.is_for_keys, d.is_deprecated
   from permission_catalogue c left join declared_permission d on true
   order by d.position`,
);

export const toCatalogue = (rows: readonly Row[]) => ({
  version: rows[0]?.version ?? 0,
  permissions: rows.flatMap((row): Declaration[] => (row.name === null ? [] : [present({ ...row, name: row.name })])),
});

/** Reads the catalogue with its version. */
export const readCatalogue = async (db: QueryRunner) => toCatalogue(await db.query(readCatalogueStatement, []));

const present = (row: Row & { readonly name: ProductPermission }): Declaration => ({
  name: row.name,
  title: row.title,
  description: row.description,
  group: row.heading,
  sensitive: row.is_sensitive,
  roles: row.roles,
  keys: row.is_for_keys,
  deprecated: row.is_deprecated,
});
