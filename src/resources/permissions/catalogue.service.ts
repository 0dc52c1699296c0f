import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { command } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { requireProofOfOperatorIf } from '../../transactions/require-proof.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { readCatalogueStatement, toCatalogue } from './catalogue.queries.ts';
import { lockCatalogueStep } from './declared-permissions.ts';
import { countHolders, isHeld, type Held } from './holders.ts';
import { REPLACEMENTS, setSensitive, setSystemRoles, takeFromKeys } from './holders.statements.ts';
import type { Catalogue, CatalogueChange, Declaration, Removal } from './permissions.schema.ts';
import { isEmpty, planCatalogue, requireValid, type Plan } from './plan.ts';

const lockCatalogue = command<object>(
  'permission_catalogue_lock',
  `select pg_advisory_xact_lock(${ADVISORY_LOCKS.permissionCatalogue})`,
);

const clearCatalogue = command<never>('declared_permission_delete', 'delete from declared_permission');
const fillCatalogue = command<never>(
  'declared_permission_insert',
  'insert into declared_permission select * from json_populate_recordset(null::declared_permission, $1::json)',
);
const countChange = command<{ version: number }>(
  'permission_catalogue_update_version',
  `insert into permission_catalogue (id, version, changed_at) values ('catalogue', 1, now())
   on conflict (id) do update set version = permission_catalogue.version + 1, changed_at = now()
   returning version`,
);

type Options = {
  /** Whether nothing is changed. */
  readonly dryRun?: boolean;
  /** The version that the caller has read, if another one must not be changed. */
  readonly version?: number | undefined;
};

/**
 * Replaces the catalogue of the product’s permissions, and what roles, keys, clients and grants hold of it. Nobody gives
 * permissions meanwhile, so that nobody holds one that is no longer declared.
 * @throws permission_held (409) for a held one that is removed without a decision, version_mismatch, validation_failed
 */
export async function applyCatalogue(
  db: TransactionScope,
  caller: OperatorCaller | 'system',
  catalogue: Catalogue,
  { dryRun = false, version: expected }: Options = {},
): Promise<CatalogueChange> {
  requireValid(catalogue);
  return change(db, caller, { on: 'installation', requires: 'operator' }, async (opened) => {
    const lock = dryRun ? lockCatalogueStep : ([lockCatalogue, []] as const);
    const [, rows] = await opened.run([lock, [readCatalogueStatement, []]]);
    const { version, permissions: present } = toCatalogue(rows);
    if (expected !== undefined && expected !== version)
      throw new ProblemError('version_mismatch', `The catalogue has version ${version}.`);
    const plan = planCatalogue(present, catalogue);
    const held = await countHolders(
      opened,
      [...plan.changed, ...plan.removed].map(({ name }) => name),
    );
    const isApplied = !dryRun && !isEmpty(plan);
    if (isApplied) {
      await requireProofOfOperatorIf(true, opened, caller);
      requireDecided(plan, held);
    }
    return {
      version: isApplied ? await replace(opened, catalogue.permissions, plan) : version,
      isApplied,
      added: [...plan.added],
      changed: plan.changed.map(({ name, fields }) => ({ name, ...countsOf(held, name), fields: [...fields] })),
      removed: plan.removed.map(({ name, removal }) => ({ name, ...countsOf(held, name), ...presentRemoval(removal) })),
    };
  });
}

const presentRemoval = (removal: Removal | null) => ({
  removal: removal === null || removal === 'drop' ? removal : ('replace' as const),
  replaceWith: replacementOf(removal),
});

const replacementOf = (removal: Removal | null): string | null =>
  removal === null || removal === 'drop' ? null : removal.replaceWith;

const countsOf = (held: ReadonlyMap<string, Held>, name: string): Held => {
  const counts = held.get(name);
  if (counts === undefined) throw new Error(`${name} was not counted.`);
  return counts;
};

/** What can hold a permission, as errors name it. */
const HOLDERS = [
  ['roles', 'role'],
  ['templates', 'role template'],
  ['keys', 'API key'],
  ['clients', 'OAuth client'],
  ['grants', 'grant'],
] as const satisfies readonly (readonly [keyof Held, string])[];

function requireDecided({ removed }: Plan, held: ReadonlyMap<string, Held>): void {
  const undecided = removed.filter(({ name, removal }) => removal === null && isHeld(countsOf(held, name)));
  const [first] = undecided;
  if (first === undefined) return;
  const counts = HOLDERS.map(([kind, name]) => [countsOf(held, first.name)[kind], name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}${count === 1 ? '' : 's'}`)
    .join(', ');
  const others = undecided.length === 1 ? '' : ` So are ${undecided.length - 1} others.`;
  const advice = ' Decide in `removals`: `drop`, or `replaceWith` another permission.';
  throw new ProblemError('permission_held', `\`${first.name}\` is held by ${counts}.${others}${advice}`, {
    errors: undecided.map(({ name }) => ({ in: 'body', pointer: `/removals/${name}`, code: 'required' })),
  });
}

async function replace(opened: Change, permissions: readonly Declaration[], plan: Plan): Promise<number> {
  const rows = permissions.map((each, position) => ({
    name: each.name,
    position,
    title: each.title,
    description: each.description,
    heading: each.group,
    is_sensitive: each.sensitive,
    roles: each.roles,
    is_for_keys: each.keys,
    is_deprecated: each.deprecated,
  }));
  opened.later([clearCatalogue, []]);
  opened.later([fillCatalogue, [JSON.stringify(rows)]]);
  const next = Object.fromEntries(plan.removed.map(({ name, removal }) => [name, replacementOf(removal)]));
  if (plan.removed.length > 0)
    for (const replacement of REPLACEMENTS) opened.later([replacement, [JSON.stringify(next)]]);
  for (const statement of [setSystemRoles, setSensitive, takeFromKeys]) opened.later([statement, []]);
  const [[counted]] = await opened.run([[countChange, []]]);
  const version = counted?.version ?? 0;
  opened.record('permission_catalogue.changed', toEvent(version, plan));
  return version;
}

/** The details of an event have at most 2,000 characters. */
const NAMES_LENGTH_MAX = 1800;

/** Returns what the event says: the names of what changed, or how many, if they are too long. */
function toEvent(catalogueVersion: number, plan: Plan) {
  const names = {
    added: plan.added,
    removed: plan.removed.map(({ name }) => name),
    redeclared: plan.changed.map(({ name }) => name),
  };
  const number = names.added.length + names.removed.length + names.redeclared.length;
  return { catalogueVersion, number, ...(JSON.stringify(names).length <= NAMES_LENGTH_MAX && names) };
}
