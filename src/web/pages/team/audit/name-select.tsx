import { defaultOptionsFilter, Select, type OptionsFilter } from '@mantine/core';
import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { useState } from 'react';
import { followActiveOption } from '../../../components/active-option.ts';
import { auditTexts as words } from '../../../messages/audit.ts';
import { toFailure } from '../../../trpc.ts';
import { neutralize } from '../../../../messages/neutralize.ts';
import { Name } from '../../../components/name.tsx';

type Option = { readonly value: string; readonly label: string };

type NameSelectProps<Row> = {
  readonly label: string;
  /** Reads what can be chosen. Undefined if the role does not include it: what the filter names can still be removed. */
  readonly rows: Pick<UseQueryOptions<readonly Row[]>, 'queryKey' | 'queryFn'> | undefined;
  readonly toOption: (row: Row) => Option;
  /** The id in the filter. */
  readonly value: string | undefined;
  /** Its name, as far as an event shows it. */
  readonly name: string | undefined;
  readonly onChange: (value: string | undefined) => void;
};

/** The most options that are shown at once. Typing finds the others. */
const OPTIONS_MAX = 50;

/** A list without an option would be none to a screen reader. */
const filterOptions: OptionsFilter = (input) => {
  const found = defaultOptionsFilter(input) as ReturnType<OptionsFilter>; // of the same options
  return found.length > 0 ? found : [{ value: 'none', label: words.noneFound, disabled: true }];
};

/** A select with a search, whose options are read when they are needed. */
export function NameSelect<Row>({ label, rows, toOption, value, name, onChange }: NameSelectProps<Row>) {
  const [isOpened, setOpened] = useState(false);
  const [text, setText] = useState('');
  const { data, error, isFetching } = useQuery({
    ...(rows ?? { queryKey: [] }),
    enabled: rows !== undefined && (isOpened || value !== undefined),
  });
  const listed = [{ value: '', label: words.kinds[''] }, ...(data ?? []).map(toOption)];
  const found = listed.find((option) => option.value === (value ?? ''));
  const chosen = found ?? { value: value ?? '', label: neutralize(name ?? value ?? '') };
  return (
    <div ref={followActiveOption} className="contents">
      <Select
        size="sm"
        label={label}
        value={chosen.value}
        data={found === undefined ? [...listed, chosen] : listed}
        renderOption={({ option }) => <Name>{option.label}</Name>}
        limit={OPTIONS_MAX}
        searchable
        // Also once the options have arrived, so that Enter chooses the first one that was found.
        selectFirstOptionOnChange={data !== undefined && text !== chosen.label}
        openOnFocus={false}
        allowDeselect={false}
        loading={isFetching && isOpened}
        error={error !== null && toFailure(error).title}
        filter={filterOptions}
        autoComplete="off"
        spellCheck={false}
        withScrollArea={false}
        // A portal, locking or transitions would add style elements, which the Content-Security-Policy blocks.
        comboboxProps={{ withinPortal: false, shadow: 'md', transitionProps: { duration: 0 } }}
        classNames={{ options: 'audit-options' }}
        onClick={({ currentTarget }) => currentTarget.select()}
        onSearchChange={setText}
        onDropdownOpen={() => setOpened(true)}
        onChange={(next) => onChange(next === null || next === '' ? undefined : next)}
      />
    </div>
  );
}
