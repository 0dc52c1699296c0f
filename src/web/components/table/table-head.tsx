import { Checkbox, Table, VisuallyHidden } from '@mantine/core';
import { tableTexts as words } from '../../messages/table.ts';
import type { Column } from './column.ts';
import type { Selection } from './selection.ts';
import type { Sorting } from './table-state.ts';

type TableHeadProps<Row> = {
  readonly columns: readonly Column<Row>[];
  readonly count: number;
  readonly sorting: Sorting | undefined;
  readonly selection: Selection<Row> | undefined;
  readonly hasActions: boolean;
  readonly canSort: (column: string) => boolean;
  readonly onSort: (column: string) => void;
};

// Explicit ARIA roles: some browsers drop them from tables that are laid out as cards.
export function TableHead<Row>(props: TableHeadProps<Row>) {
  const { columns, count, sorting, selection, hasActions, canSort, onSort } = props;
  const selected = selection?.rows.length ?? 0;
  return (
    <Table.Thead role="rowgroup">
      <Table.Tr role="row" aria-rowindex={1}>
        {selection !== undefined && (
          <Table.Th role="columnheader" scope="col" className="data-select">
            <Checkbox
              aria-label={words.selectAll(count)}
              checked={selected > 0 && selected === count}
              indeterminate={selected > 0 && selected < count}
              onChange={({ currentTarget }) => selection.toggleAll(currentTarget.checked)}
            />
          </Table.Th>
        )}
        {columns.map(({ id, title }) => {
          const order = sorting?.column === id ? (sorting.isDescending ? 'descending' : 'ascending') : undefined;
          return (
            <Table.Th key={id} role="columnheader" scope="col" {...(order && { 'aria-sort': order })}>
              {!canSort(id) ? (
                title
              ) : (
                <button type="button" className="data-sort" onClick={() => onSort(id)}>
                  {title}
                  <span aria-hidden="true">{order === undefined ? '' : order === 'ascending' ? '↑' : '↓'}</span>
                </button>
              )}
            </Table.Th>
          );
        })}
        {hasActions && (
          <Table.Th role="columnheader" scope="col" className="data-actions">
            <VisuallyHidden>{words.actions}</VisuallyHidden>
          </Table.Th>
        )}
      </Table.Tr>
    </Table.Thead>
  );
}
