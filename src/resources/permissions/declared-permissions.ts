import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { command, query } from '../../db/query.ts';
import type { OpenSteps } from '../../db/pipeline/open-transaction.ts';
import type { ProductPermission } from '../../entities/index.ts';
import { invalidInput } from '../../problems/error.ts';

/** Keeps the catalogue as it is until the commit. Take it before rows that hold permissions: see `applyCatalogue`. */
const lockCatalogueShared = command<object>(
  'permission_catalogue_lock_shared',
  `select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.permissionCatalogue})`,
);

export type Declared = {
  readonly name: ProductPermission;
  readonly isSensitive: boolean;
  readonly isForKeys: boolean;
  readonly isDeprecated: boolean;
};

const declaredOf = query<Declared>(
  'declared_permission_list_of_names',
  `select name, is_sensitive as "isSensitive", is_for_keys as "isForKeys", is_deprecated as "isDeprecated"
   from declared_permission where name = any(string_to_array($1, ' '))`,
);

export const lockCatalogueStep = [lockCatalogueShared, []] as const;

/** Locks the catalogue and reads what it declares of permissions, before they are given. */
export const declaredSteps = (names: readonly ProductPermission[]) =>
  [lockCatalogueStep, [declaredOf, [names.join(' ')]]] as const;

/** Reads what the catalogue declares of permissions like `declaredSteps`; of none, without a statement. */
export async function readDeclared(
  opened: Pick<OpenSteps, 'run'>,
  names: readonly ProductPermission[],
): Promise<readonly Declared[]> {
  if (names.length === 0) return [];
  const [, declared] = await opened.run(declaredSteps(names));
  return declared;
}

type Giving = {
  /** What its holder has already. Deprecated permissions can only stay. */
  readonly held: readonly ProductPermission[];
  readonly isForKeys?: boolean;
  readonly pointer: string;
};

/** Requires permissions that the catalogue declares and lets be given. @throws validation_failed (400) */
export function requireDeclared(
  declared: readonly Declared[],
  given: readonly ProductPermission[],
  { held, isForKeys = false, pointer }: Giving,
): void {
  const added = given.filter((name) => !held.includes(name));
  const undeclared = findUndeclared(declared, added, isForKeys);
  if (undeclared === undefined) return;
  const { name, fault } = undeclared;
  throw invalidInput(`${pointer}/${given.indexOf(name)}`, `\`${name}\` ${fault}`);
}

/** Returns the first permission that the catalogue does not let be given, and why. */
export function findUndeclared(
  declared: readonly Declared[],
  given: readonly ProductPermission[],
  isForKeys = false,
): { readonly name: ProductPermission; readonly fault: string } | undefined {
  const byName = new Map(declared.map((each) => [each.name, each]));
  for (const name of given) {
    const fault = findFault(byName.get(name), isForKeys);
    if (fault !== undefined) return { name, fault };
  }
  return undefined;
}

function findFault(found: Declared | undefined, isForKeys: boolean): string | undefined {
  if (found === undefined) return 'is not in the catalogue of permissions.';
  if (found.isDeprecated) return 'is deprecated, and given to nobody who does not hold it.';
  return isForKeys && !found.isForKeys ? 'cannot be held by API keys.' : undefined;
}

/** Returns whether one of the permissions is sensitive. */
export const isAnySensitive = (declared: readonly Declared[], names: readonly ProductPermission[]): boolean =>
  declared.some(({ name, isSensitive }) => isSensitive && names.includes(name));
