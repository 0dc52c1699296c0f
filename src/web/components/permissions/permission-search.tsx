import { Text, TextInput } from '@mantine/core';
import { permissionsTexts as words } from '../../messages/permissions.ts';
import type { useGroups } from './use-groups.ts';

type PermissionSearchProps = Pick<ReturnType<typeof useGroups>, 'search' | 'setSearch' | 'found'>;

/** Searches a long list of permissions. */
export const PermissionSearch = ({ search, setSearch, found }: PermissionSearchProps) => (
  <div className="permission-search">
    <TextInput
      type="search"
      size="sm"
      aria-label={words.search}
      placeholder={words.search}
      autoComplete="off"
      spellCheck={false}
      value={search}
      onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      // Enter would submit the form around it.
      onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
    />
    <Text size="sm" c="dimmed" role="status">
      {found === 0 ? words.none : words.count(found)}
    </Text>
  </div>
);
