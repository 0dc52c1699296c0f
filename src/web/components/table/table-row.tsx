import { Checkbox, Table } from '@mantine/core';
import { memo, type ReactNode, type Ref } from 'react';
import { tableTexts as words } from '../../messages/table.ts';
import type { Column } from './column.ts';
import type { Selection } from './selection.ts';

type TableRowProps<Row> = {
  readonly row: Row;
  readonly index: number;
  /** Whether the table says how many rows it has. */
  readonly isCounted: boolean;
  readonly name: string;
  readonly id: string;
  readonly columns: readonly Column<Row>[];
  readonly isSelected: boolean;
  readonly isBusy: boolean;
  readonly toggle: Selection<Row>['toggle'] | undefined;
  readonly actions: ((row: Row) => ReactNode) | undefined;
  /** The virtualizer measures the row. */
  readonly measure: Ref<HTMLTableRowElement>;
};

function Row<Data>({
  row,
  index,
  isCounted,
  name,
  id,
  columns,
  isSelected,
  isBusy,
  toggle,
  actions,
  measure,
}: TableRowProps<Data>) {
  return (
    <Table.Tr
      ref={measure}
      role="row"
      aria-rowindex={isCounted ? index + 2 : undefined}
      aria-busy={isBusy}
      data-index={index}
      data-selected={isSelected || undefined}
    >
      {toggle !== undefined && (
        <Table.Td role="cell" className="data-select">
          <Checkbox
            aria-label={words.select(name)}
            checked={isSelected}
            onChange={({ currentTarget: { checked }, nativeEvent }) =>
              toggle(id, checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
            }
          />
        </Table.Td>
      )}
      {columns.map((column, place) =>
        place === 0 ? (
          <Table.Th key={column.id} role="rowheader" scope="row" className={`data-name ${column.className ?? ''}`}>
            {column.cell(row)}
          </Table.Th>
        ) : (
          <Table.Td
            key={column.id}
            role="cell"
            className={column.className}
            {...(column.isLabelled && { 'data-label': column.title })}
          >
            {column.cell(row)}
          </Table.Td>
        ),
      )}
      {actions !== undefined && (
        <Table.Td role="cell" className="data-actions">
          {actions(row)}
        </Table.Td>
      )}
    </Table.Tr>
  );
}

/** A row of a table. Scrolling renders only new rows. */
export const TableRow = memo(Row) as typeof Row;
