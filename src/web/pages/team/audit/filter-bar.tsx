import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useSearchText } from '../../../components/table/search-text.ts';
import { keysQuery, membersQuery } from '../../../page-queries.ts';
import { auditTexts as words } from '../../../messages/audit.ts';
import type { Key } from '../../api-keys/keys.ts';
import { getMemberName, type Member } from '../members/member.ts';
import { useTeam } from '../team.ts';
import './audit.css';
import type { AuditSearch } from './filter.ts';
import { NameSelect } from './name-select.tsx';
import { neutralize } from '../../../../messages/neutralize.ts';

type FilterBarProps = {
  readonly search: AuditSearch;
  readonly onChange: (search: AuditSearch) => void;
  /** The names of the person and the key of the filter, as far as an event shows them. */
  readonly personName: string | undefined;
  readonly keyName: string | undefined;
};

/** With the email address, which tells namesakes apart. */
function toPerson(member: Member) {
  const name = getMemberName(member);
  return {
    value: member.accountId,
    label: member.email === null || name === member.email ? name : `${name} (${neutralize(member.email)})`,
  };
}

const toKey = ({ id, name, last4 }: Key) => ({ value: id, label: `${neutralize(name)} (…${last4})` });

/** Filters by kind, person, key, days and address. */
export function FilterBar({ search, onChange, personName, keyName }: FilterBarProps) {
  const { team, can } = useTeam();
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
    <Group gap="sm" align="end">
      <NativeSelect
        size="sm"
        label={words.filter}
        value={search.kind ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ kind: value === '' ? undefined : value })}
        data={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
      />
      <NameSelect
        label={words.person}
        rows={can('access_dashboard') ? membersQuery(team.id) : undefined}
        toOption={toPerson}
        value={search.person}
        name={personName}
        onChange={(person) => onChange({ person })}
      />
      {(search.key !== undefined || can('manage_api_keys')) && (
        <NameSelect
          label={words.key}
          rows={can('manage_api_keys') ? keysQuery(team.id) : undefined}
          toOption={toKey}
          value={search.key}
          name={keyName}
          onChange={(key) => onChange({ key })}
        />
      )}
      <Group gap="sm">
        {day('from')}
        {day('to')}
      </Group>
      <TextInput
        size="sm"
        label={words.address}
        value={address}
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget: { value } }) => setAddress(value)}
      />
    </Group>
  );
}
