import { Table, Title } from '@mantine/core';
import type { VirtualItem } from '@tanstack/react-virtual';
import { Fragment, type ReactNode } from 'react';
import type { Column } from './column.ts';
import { useRowKeys } from './row-keys.ts';
import type { Selection } from './selection.ts';
import { TableRow } from './table-row.tsx';
import { useVirtualRows } from './virtual-rows.ts';

type TableRowsProps<Row> = {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  readonly rowName: (row: Row) => string;
  readonly selection: Selection<Row> | undefined;
  readonly isBusy: ((row: Row) => boolean) | undefined;
  readonly actions: ((row: Row) => ReactNode) | undefined;
  readonly groupOf: ((row: Row) => string) | undefined;
  readonly head: ReactNode;
};

/** The table itself. Only rows near the window are in the page; `aria-rowcount` has their number. */
export function TableRows<Row>(props: TableRowsProps<Row>) {
  const { name, rows, columns, rowId, rowName, selection, isBusy, actions, groupOf, head } = props;
  const keyOf = (index: number): string => {
    const row = rows[index];
    return row === undefined ? String(index) : rowId(row);
  };
  const { table, virtualizer, setFocused } = useVirtualRows(rows.length, keyOf);
  const { body, onKeyDown } = useRowKeys(rows.length, (index) => virtualizer.scrollToIndex(index));
  const items = virtualizer.getVirtualItems();
  const top = virtualizer.options.scrollMargin;
  const width = columns.length + (selection ? 1 : 0) + (actions ? 1 : 0);

  return (
    <Table
      ref={table}
      role="table"
      aria-label={name}
      // With headings in between, all rows are in the page, and browsers count them.
      aria-rowcount={groupOf === undefined ? rows.length + 1 : undefined}
      verticalSpacing="sm"
      horizontalSpacing="md"
      className="data-table"
    >
      <colgroup>
        {selection && <col className="data-select-width" />}
        {columns.map(({ id, width: own }) => (
          <col key={id} style={{ width: own }} />
        ))}
        {actions && <col className="data-actions-width" />}
      </colgroup>
      {head}
      <Table.Tbody
        ref={body}
        role="rowgroup"
        onKeyDown={onKeyDown}
        onFocus={({ target }) => setFocused(indexOf(target))}
        onBlur={() => setFocused(undefined)}
      >
        {items.map((item, place) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const before = items[place - 1];
          const group = groupOf?.(row);
          const last = rows[item.index - 1];
          return (
            <Fragment key={item.key}>
              <Gap height={item.start - (before?.end ?? top)} width={width} />
              {group !== undefined && (last === undefined || groupOf?.(last) !== group) && (
                <GroupRow title={group} width={width} />
              )}
              <TableRow
                row={row}
                index={item.index}
                isCounted={groupOf === undefined}
                id={rowId(row)}
                name={rowName(row)}
                columns={columns}
                isSelected={selection?.has(rowId(row)) ?? false}
                isBusy={isBusy?.(row) ?? false}
                toggle={selection?.toggle}
                actions={actions}
                measure={virtualizer.measureElement}
              />
            </Fragment>
          );
        })}
        <Gap height={endOf(items.at(-1), virtualizer.getTotalSize() + top)} width={width} />
      </Table.Tbody>
    </Table>
  );
}

const endOf = (last: VirtualItem | undefined, end: number): number => (last === undefined ? 0 : end - last.end);

const indexOf = (target: EventTarget): number | undefined => {
  const row = target instanceof HTMLElement ? target.closest<HTMLElement>('tr[data-index]') : null;
  return row === null ? undefined : Number(row.dataset['index']);
};

/** The heading of the rows below it. */
const GroupRow = ({ title, width }: { readonly title: string; readonly width: number }) => (
  <Table.Tr role="row" className="data-group">
    <Table.Th role="cell" scope="rowgroup" colSpan={width}>
      <Title order={2} size="h6">
        {title}
      </Title>
    </Table.Th>
  </Table.Tr>
);

/** The height of rows that are not in the page. */
const Gap = ({ height, width }: { readonly height: number; readonly width: number }) =>
  height > 0 && (
    <tr aria-hidden="true" className="data-gap">
      <td aria-hidden="true" colSpan={width} style={{ height }} />
    </tr>
  );
