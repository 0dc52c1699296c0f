import { Button, Group, NativeSelect, Text, TextInput, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { tableTexts as words } from '../../messages/table.ts';
import type { Column } from './column.ts';
import { ColumnsChoice } from './columns-choice.tsx';
import type { Sorting, TableState } from './table-state.ts';

type ToolbarProps<Row> = {
  readonly columns: readonly Column<Row>[];
  readonly state: TableState;
  readonly sorting: Sorting | undefined;
  readonly onChange: (parameters: Record<string, string | undefined>) => void;
  readonly search: string;
  readonly searchLabel: string | undefined;
  readonly onSearch: (search: string) => void;
  /** How many rows there are. */
  readonly count: string;
  /** The number of rows that an export contains. */
  readonly found: number;
  readonly onExport: (() => void) | undefined;
  readonly children?: ReactNode;
};

/** Search, filters, the number of rows, the choice of columns, and the export. */
export function Toolbar<Row>(props: ToolbarProps<Row>) {
  const { columns, state, sorting, onChange, search, searchLabel, onSearch, count, found, onExport, children } = props;
  const sorted = columns.find(({ id }) => id === sorting?.column);
  return (
    <div className="data-bar">
      {searchLabel !== undefined && (
        <TextInput
          type="search"
          size="sm"
          aria-label={searchLabel}
          placeholder={searchLabel}
          autoComplete="off"
          spellCheck={false}
          value={search}
          onChange={({ currentTarget }) => onSearch(currentTarget.value)}
          className="data-search"
        />
      )}
      {columns.map(
        ({ id, title, filter, filter: { label = title } = {} }) =>
          searchLabel !== undefined &&
          filter !== undefined && (
            <NativeSelect
              key={id}
              size="sm"
              aria-label={label}
              className="data-filter"
              value={state.filters[id] ?? ''}
              onChange={({ currentTarget: { value } }) => onChange({ [id]: value === '' ? undefined : value })}
              data={[
                { value: '', label: words.all(label) },
                ...filter.options.map((option) => ({
                  value: option.value,
                  label: words.option({ filter: label, value: option.label }),
                })),
              ]}
            />
          ),
      )}
      <Text size="sm" c="dimmed" role="status" className="data-count">
        {count}
        <VisuallyHidden>
          {sorted !== undefined &&
            `. ${(sorting?.isDescending === true ? words.descending : words.ascending)(sorted.title)}`}
        </VisuallyHidden>
      </Text>
      <Group gap="xs" className="data-tools">
        <ColumnsChoice columns={columns} chosen={state.hidden} onChange={(hide) => onChange({ hide })} />
        {onExport !== undefined && (
          <Button variant="default" size="sm" disabled={found === 0} onClick={onExport} title={words.csvHint(found)}>
            {words.csv}
          </Button>
        )}
        {children}
      </Group>
    </div>
  );
}
