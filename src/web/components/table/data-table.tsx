import { Button, EmptyState, Paper } from '@mantine/core';
import { useDeferredValue, useMemo, type ReactNode } from 'react';
import { tableTexts as words } from '../../messages/table.ts';
import { createSearch, filterRows, sortRows } from './arrange.ts';
import { BulkBar } from './bulk/bulk-bar.tsx';
import type { BulkAction } from './bulk/bulk-action.ts';
import { hiddenColumns, visibleColumns, type Column } from './column.ts';
import { csvLine, saveCsv } from './csv.ts';
import { useSearchText } from './search-text.ts';
import { useSelection } from './selection.ts';
import { TableHead } from './table-head.tsx';
import { TableRows } from './table-rows.tsx';
import { nextSort, useTableState, type ServiceOrder } from './table-state.ts';
import { Toolbar } from './toolbar.tsx';
import './table.css';

export type DataTableProps<Row> = {
  /** The accessible name of the table, and the name of the exported file. */
  readonly name: string;
  readonly rows: readonly Row[];
  /** The first column names the row. Keep the array between renders: rows are rendered again with a new one. */
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  readonly rowName: (row: Row) => string;
  /** Without them the rows are searched and filtered by the service, so the table does neither. */
  readonly texts?: {
    readonly search: string;
    readonly count: (count: number) => string;
    readonly found: (values: { readonly count: number; readonly all: number }) => string;
    readonly noneFoundTitle: string;
    readonly noneFound: (search: string) => string;
    readonly showAll: string;
  };
  /** Whether the rows can be sorted. Those of a page of a longer list cannot. By default as they can be searched. */
  readonly canSort?: boolean;
  /** The columns that the service sorts by, instead of the table. */
  readonly order?: ServiceOrder;
  /** The heading above rows that follow each other, such as their day. For tables of at most 100 rows. */
  readonly groupOf?: (row: Row) => string;
  readonly icon?: ReactNode;
  /** Shown instead of a table without rows. */
  readonly empty?: ReactNode;
  readonly actions?: ((row: Row) => ReactNode) | undefined;
  readonly isBusy?: ((row: Row) => boolean) | undefined;
  /** Actions on selected rows. Without any, rows cannot be selected. */
  readonly bulk?: readonly BulkAction<Row>[];
  /** Called after an action on selected rows, which can have changed any of them. */
  readonly onBulkEnd?: () => void;
  /** Tools beside the choice of columns, such as another export. */
  readonly tools?: ReactNode;
  /** Whether the tools export the rows. */
  readonly hasOwnExport?: boolean;
};

/** A table of any length with search, filters, sorting, choice of columns, selection and export, in the URL. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { name, rows, columns, rowId, rowName, texts, icon, empty, actions, isBusy, bulk = [], onBulkEnd } = props;
  const { order, canSort = texts !== undefined, groupOf } = props;
  const { state, change } = useTableState();
  const [search, setSearch] = useSearchText(state.search, (q) => change({ q: q === '' ? undefined : q }));
  const sought = useDeferredValue(search.trim());
  const find = useMemo(() => createSearch(rows, columns), [rows, columns]);
  const { filters } = state;
  const sorting = order ?? (canSort ? state.sorting : undefined);
  const own = order === undefined ? sorting : undefined;
  const chosen = JSON.stringify([filters, own]);
  const found = useMemo(
    () => sortRows(filterRows(find(sought), columns, filters), columns, own),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `chosen` stands for `filters` and `own`
    [find, sought, columns, chosen],
  );
  const hidden = [...state.hidden].join();
  // eslint-disable-next-line react-hooks/exhaustive-deps -- `hidden` stands for `state.hidden`
  const visible = useMemo(() => visibleColumns(columns, hiddenColumns(columns, state.hidden)), [columns, hidden]);
  const selection = useSelection(found, rowId);
  const canSelect = bulk.length > 0;
  const isEmpty = rows.length === 0 && empty !== undefined;

  const showAll = () => {
    setSearch('');
    change({ q: undefined, ...Object.fromEntries(columns.map(({ id }) => [id, undefined])) });
  };
  const save = (saved: readonly Row[]) =>
    saveCsv(`${name.toLowerCase().replaceAll(' ', '-')}.csv`, [
      csvLine(columns.map(({ title }) => title)),
      ...saved.map((row) => csvLine(columns.map(({ csv, value }) => (csv ?? value)(row)))),
    ]);
  return (
    <Paper withBorder radius="lg" className={isEmpty ? 'empty' : 'data'}>
      {isEmpty ? (
        empty
      ) : (
        <Toolbar
          columns={columns}
          state={state}
          sorting={sorting}
          onChange={change}
          search={search}
          searchLabel={texts?.search}
          onSearch={setSearch}
          count={
            texts === undefined
              ? words.onPage(rows.length)
              : found.length === rows.length
                ? texts.count(rows.length)
                : texts.found({ count: found.length, all: rows.length })
          }
          found={found.length}
          onExport={props.hasOwnExport === true ? undefined : () => save(found)}
        >
          {props.tools}
        </Toolbar>
      )}
      {/* Also without rows: an action that removed them all still shows its outcomes. */}
      {canSelect && (
        <BulkBar
          selection={selection}
          actions={bulk}
          rowId={rowId}
          rowName={rowName}
          onExport={() => save(selection.rows)}
          onEnd={onBulkEnd}
        />
      )}
      {!isEmpty && texts !== undefined && found.length === 0 && (
        <div className="data-none">
          <EmptyState
            variant="light"
            icon={icon}
            title={texts.noneFoundTitle}
            description={sought === '' ? undefined : texts.noneFound(sought)}
          >
            <EmptyState.Actions>
              <Button variant="default" onClick={showAll}>
                {texts.showAll}
              </Button>
            </EmptyState.Actions>
          </EmptyState>
        </div>
      )}
      {found.length > 0 && (
        <TableRows
          name={name}
          rows={found}
          columns={visible}
          rowId={rowId}
          rowName={rowName}
          selection={canSelect ? selection : undefined}
          isBusy={isBusy}
          actions={actions}
          groupOf={groupOf}
          head={
            <TableHead
              columns={visible}
              count={found.length}
              sorting={sorting}
              selection={canSelect ? selection : undefined}
              hasActions={actions !== undefined}
              canSort={(column) => (order === undefined ? canSort : order.columns.includes(column))}
              onSort={order?.onChange ?? ((column) => change({ sort: nextSort(column, sorting) }))}
            />
          }
        />
      )}
    </Paper>
  );
}
