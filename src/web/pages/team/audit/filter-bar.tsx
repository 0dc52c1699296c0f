import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useSearchText } from '../../../components/table/search-text.ts';
import { auditTexts as words } from '../../../messages/audit.ts';
import type { AuditSearch } from './filter.ts';

type FilterBarProps = {
  readonly search: AuditSearch;
  readonly onChange: (search: AuditSearch) => void;
  /** The names of the person and the key of the filter, as far as an event shows them. */
  readonly personName: string | undefined;
  readonly keyName: string | undefined;
};

/** Filters by kind, days and address, and removes those by person and key, which are set by links in events. */
export function FilterBar({ search, onChange, personName, keyName }: FilterBarProps) {
  const [address, setAddress] = useSearchText(search.address ?? '', (text) =>
    onChange({ address: text.trim() === '' ? undefined : text.trim() }),
  );
  const day = (name: 'from' | 'to') => (
    <TextInput
      type="date"
      size="sm"
      label={name === 'from' ? words.fromDay : words.toDay}
      value={search[name] ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ [name]: value === '' ? undefined : value })}
    />
  );
  return (
    <>
      <Group gap="sm" align="end">
        <NativeSelect
          size="sm"
          label={words.filter}
          value={search.kind ?? ''}
          onChange={({ currentTarget: { value } }) => onChange({ kind: value === '' ? undefined : value })}
          data={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
        />
        {day('from')}
        {day('to')}
        <TextInput
          size="sm"
          label={words.address}
          value={address}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget: { value } }) => setAddress(value)}
        />
      </Group>
      {(search.person !== undefined || search.key !== undefined) && (
        <Group gap="xs">
          {search.person !== undefined && (
            <Button size="compact-sm" variant="light" onClick={() => onChange({ person: undefined })}>
              {words.withoutPerson(personName ?? search.person)}
            </Button>
          )}
          {search.key !== undefined && (
            <Button size="compact-sm" variant="light" onClick={() => onChange({ key: undefined })}>
              {words.withoutKey(keyName ?? search.key)}
            </Button>
          )}
        </Group>
      )}
    </>
  );
}
