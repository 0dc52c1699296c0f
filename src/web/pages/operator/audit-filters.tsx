import { Button, NativeSelect, TextInput } from '@mantine/core';
import type { SubmitEvent } from 'react';
import { areaTexts } from '../../messages/operator-area.ts';
import { operatorAuditTexts as words } from '../../messages/operator-audit.ts';

const FIELDS = ['actorId', 'accountId', 'teamId', 'keyId'] as const;
const DAYS = ['from', 'to'] as const;

export type Filters = Partial<Record<'event' | (typeof FIELDS)[number] | (typeof DAYS)[number], string>>;

type AuditFiltersProps = {
  readonly events: readonly string[];
  readonly filters: Filters;
  readonly onFilter: (filters: Filters) => void;
};

/** The filters of the audit log. They are applied on submit, because each look is recorded. */
export function AuditFilters({ events, filters, onFilter }: AuditFiltersProps) {
  const submit = (submission: SubmitEvent<HTMLFormElement>) => {
    submission.preventDefault();
    const given = [...new FormData(submission.currentTarget)].map(([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() : '',
    ]);
    onFilter(Object.fromEntries(given.filter(([, value]) => value !== '')) as Filters); // the fields below
  };
  return (
    // The URL has the filters, so that going back shows them again.
    <form key={JSON.stringify([filters, events.length])} role="search" onSubmit={submit} className="operator-filters">
      <NativeSelect
        name="event"
        label={words.event}
        defaultValue={filters.event ?? ''}
        data={[{ value: '', label: words.all }, ...events.map((value) => ({ value, label: value }))]}
      />
      {FIELDS.map((name) => (
        <TextInput
          key={name}
          name={name}
          label={words.filters[name]}
          defaultValue={filters[name] ?? ''}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={255}
        />
      ))}
      {DAYS.map((name) => (
        <TextInput
          key={name}
          name={name}
          type="date"
          max="9999-12-30"
          label={words.filters[name]}
          defaultValue={filters[name] ?? ''}
        />
      ))}
      <Button type="submit">{words.submit}</Button>
      {Object.keys(filters).length > 0 && (
        <Button variant="default" onClick={() => onFilter({})}>
          {areaTexts.list.clear}
        </Button>
      )}
    </form>
  );
}
