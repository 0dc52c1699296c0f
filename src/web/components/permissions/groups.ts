import { permissionTexts, permissionsTexts as words } from '../../messages/permissions.ts';
import { rolesTexts } from '../../messages/roles.ts';
import { foldText, toSearchWords } from '../../search-words.ts';
import type { Outputs, Permission } from '../../trpc.ts';

/** A permission of the product, as the catalogue of the operator lists it. */
export type DeclaredPermission = Outputs['permissions']['list'][number];

export type ListedPermission = Pick<
  DeclaredPermission,
  'name' | 'title' | 'description' | 'isSensitive' | 'isDeprecated'
>;

export type PermissionGroup = { readonly title: string; readonly permissions: readonly ListedPermission[] };

/** The permissions of the service itself, in their order. */
export const PERMISSIONS = Object.keys(permissionTexts) as readonly Permission[]; // the keys of a record of all

export const teamGroup = (): PermissionGroup => ({
  title: words.ofTeam,
  permissions: PERMISSIONS.map((name) => ({
    name,
    title: permissionTexts[name],
    description: rolesTexts.catalogue.details[name],
    isSensitive: false,
    isDeprecated: false,
  })),
});

/** Groups permissions of the product by their headings. Both are in the order of the catalogue. */
export function groupDeclared(declared: readonly DeclaredPermission[]): readonly PermissionGroup[] {
  const groups = new Map<string, DeclaredPermission[]>();
  for (const permission of declared) {
    const found = groups.get(permission.group);
    if (found === undefined) groups.set(permission.group, [permission]);
    else found.push(permission);
  }
  return [...groups].map(([title, permissions]) => ({ title, permissions }));
}

/** Returns the groups with the permissions that have all words of a search in their texts, name or heading. */
export function searchGroups(groups: readonly PermissionGroup[], search: string): readonly PermissionGroup[] {
  const sought = toSearchWords(search);
  if (sought.length === 0) return groups;
  return groups.flatMap(({ title, permissions }) => {
    const found = permissions.filter((each) => {
      const text = foldText([title, each.title, each.name, each.description ?? ''].join(' '));
      return sought.every((word) => text.includes(word));
    });
    return found.length === 0 ? [] : [{ title, permissions: found }];
  });
}
