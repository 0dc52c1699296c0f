import { sortPermissions } from '../../auth/permissions.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { Permission, ProductPermission } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';

type Row = {
  id: string;
  name: string;
  permissions: Permission[];
  productPermissions: ProductPermission[];
  version: number;
};

const all = query<Row>(
  'role_template_list_versions',
  'select id, name, permissions, product_permissions as "productPermissions", version from role_template order by name',
);

/** Lists the role templates by name. */
export const listRoleTemplates = async (db: QueryRunner) => (await db.query(all, [])).map(present);

/** @throws role_not_found */
export async function readRoleTemplate(db: QueryRunner, templateId: string) {
  const found = (await listRoleTemplates(db)).find(({ id }) => id === templateId);
  if (found === undefined) throw new ProblemError('role_not_found', 'There is no role template with this id.');
  return found;
}

const present = (row: Row) => ({ ...row, permissions: sortPermissions(row.permissions) });
