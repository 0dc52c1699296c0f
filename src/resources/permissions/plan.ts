import { isDeepStrictEqual } from 'node:util';
import { SCOPES, type ProductPermission } from '../../entities/index.ts';
import { invalidInput } from '../../problems/error.ts';
import type { Catalogue, Declaration, Removal } from './permissions.schema.ts';

export type Plan = {
  readonly added: readonly ProductPermission[];
  readonly changed: readonly { readonly name: ProductPermission; readonly fields: readonly string[] }[];
  readonly removed: readonly { readonly name: ProductPermission; readonly removal: Removal | null }[];
  /** Whether permissions are only listed in another order. */
  readonly isReordered: boolean;
};

/** Requires distinct names that are none of the scopes, and removals for something that remains. @throws validation_failed */
export function requireValid({ permissions, removals }: Catalogue): void {
  const names = new Set<string>();
  permissions.forEach(({ name }, index) => {
    const pointer = `/permissions/${index}/name`;
    if ((SCOPES as readonly string[]).includes(name)) throw invalidInput(pointer, `\`${name}\` is a scope of Roster.`);
    if (names.has(name)) throw invalidInput(pointer, `\`${name}\` is declared twice.`);
    names.add(name);
  });
  for (const [name, removal] of Object.entries(removals)) {
    if (removal !== 'drop' && !names.has(removal.replaceWith))
      throw invalidInput(
        `/removals/${name}/replaceWith`,
        `\`${removal.replaceWith}\`, which replaces \`${name}\`, is not declared.`,
      );
  }
}

/** Compares a catalogue with the present one. */
export function planCatalogue(present: readonly Declaration[], { permissions, removals }: Catalogue): Plan {
  const before = new Map(present.map((each) => [each.name, each]));
  const after = new Set(permissions.map(({ name }) => name));
  const changed = permissions.flatMap((each) => {
    const fields = findChangedFields(before.get(each.name), each);
    return fields.length === 0 ? [] : [{ name: each.name, fields }];
  });
  const removed = present.flatMap(({ name }) => (after.has(name) ? [] : [{ name, removal: removals[name] ?? null }]));
  const added = permissions.flatMap(({ name }) => (before.has(name) ? [] : [name]));
  const stay = (all: readonly Declaration[]) =>
    all.map(({ name }) => name).filter((name) => before.has(name) && after.has(name));
  return { added, changed, removed, isReordered: !isDeepStrictEqual(stay(present), stay(permissions)) };
}

/** Returns whether a plan changes nothing. */
export const isEmpty = ({ added, changed, removed, isReordered }: Plan): boolean =>
  added.length + changed.length + removed.length === 0 && !isReordered;

const findChangedFields = (before: Declaration | undefined, after: Declaration): string[] =>
  before === undefined
    ? []
    : (Object.keys(after) as (keyof Declaration)[]).filter(
        (field) => !isDeepStrictEqual(sorted(before[field]), sorted(after[field])),
      );

const sorted = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(String).toSorted((a, b) => (a < b ? -1 : 1)) : value;
