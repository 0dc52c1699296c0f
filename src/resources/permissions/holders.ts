import { query, type QueryRunner } from '../../db/query.ts';
import { readCatalogue } from './catalogue.queries.ts';
import type { OpenSteps } from '../../db/pipeline/open-transaction.ts';
import type { ProductPermission } from '../../entities/index.ts';

/** How many hold a permission. */
export type Held = {
  readonly roles: number;
  readonly templates: number;
  readonly keys: number;
  readonly clients: number;
  readonly grants: number;
};

type Row = { name: ProductPermission; holder: keyof Held; number: number };

const GIVEN = `string_to_array($1, ' ')`;

const countOf = (holder: keyof Held, table: string, where = 'true') =>
  `select held.name, '${holder}' as holder, count(*)::int as number
   from ${table} h, unnest(h.product_permissions) held(name)
   where h.product_permissions && ${GIVEN} and held.name = any(${GIVEN}) and ${where}
   group by held.name`;

const holdersOf = query<Row>(
  'declared_permission_count_holders',
  [
    countOf('roles', 'role', 'h.team_id is not null'),
    countOf('templates', 'role_template'),
    countOf('keys', 'api_key', 'h.revoked_at is null'),
    countOf('clients', 'oauth_client', 'h.deleted_at is null'),
    countOf('grants', 'oauth_grant', 'h.revoked_at is null and h.expires_at > now()'),
  ].join(' union all '),
  { rows: 'many' },
);

const NONE: Held = { roles: 0, templates: 0, keys: 0, clients: 0, grants: 0 };

/** Counts who holds each of the permissions, besides the system roles. */
export async function countHolders(
  opened: Pick<OpenSteps, 'run'>,
  names: readonly ProductPermission[],
): Promise<Map<string, Held>> {
  if (names.length === 0) return toCounts(names, []);
  const [rows] = await opened.run([[holdersOf, [names.join(' ')]]]);
  return toCounts(names, rows);
}

/** Counts who holds each permission of the catalogue, in its order. */
export async function listHolders(db: QueryRunner) {
  const { permissions } = await readCatalogue(db);
  const names = permissions.map(({ name }) => name);
  const counts = toCounts(names, await db.query(holdersOf, [names.join(' ')]));
  return [...counts].map(([name, held]) => ({ name, ...held }));
}

function toCounts(names: readonly ProductPermission[], rows: readonly Row[]): Map<string, Held> {
  const counts = new Map<string, Held>(names.map((name) => [name, NONE]));
  for (const { name, holder, number } of rows) counts.set(name, { ...(counts.get(name) ?? NONE), [holder]: number });
  return counts;
}

export const isHeld = ({ roles, templates, keys, clients, grants }: Held): boolean =>
  roles + templates + keys + clients + grants > 0;
