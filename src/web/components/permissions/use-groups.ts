import { useState } from 'react';
import { searchGroups, type PermissionGroup } from './groups.ts';

/** With more permissions than this, only the first group is open, and there is a search field. */
const LONG_COUNT = 24;

/** The groups of a list of permissions that can be searched, and which of them are open. */
export function useGroups(groups: readonly PermissionGroup[]) {
  const [search, setSearch] = useState('');
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const count = groups.reduce((sum, { permissions }) => sum + permissions.length, 0);
  const isLong = count > LONG_COUNT;
  const found = searchGroups(groups, search);
  const isSearched = found !== groups;
  return {
    search,
    setSearch,
    isLong,
    /** The number of permissions that are found. */
    found: found.reduce((sum, { permissions }) => sum + permissions.length, 0),
    groups: found.map((group) => ({
      ...group,
      // What is found is shown.
      isOpen: isSearched || !isLong || (group.title === groups[0]?.title) !== toggled.has(group.title),
      canToggle: isLong && !isSearched,
    })),
    toggle: (title: string) =>
      setToggled((before) =>
        before.has(title) ? new Set([...before].filter((one) => one !== title)) : new Set([...before, title]),
      ),
  };
}

export type OpenGroup = ReturnType<typeof useGroups>['groups'][number];
