import { Button, EmptyState, Group, Paper, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Placeholder } from '../../components/page.tsx';
import { DataTable, type DataTableProps } from '../../components/table/data-table.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { isGone, Refusal } from './operators.tsx';

const words = areaTexts.list;

type ListProps<Page, Item> = {
  readonly label: string;
  readonly page: UseQueryResult<Page>;
  readonly items: (page: Page) => readonly Item[];
  readonly empty: { readonly title: string; readonly description: string };
};

/** A page of a list, in any of its states. */
export function List<Page, Item>({
  row,
  ...list
}: ListProps<Page, Item> & { readonly row: (item: Item) => ReactNode }) {
  return (
    <Shown {...list}>
      {(shown) =>
        shown.length === 0 ? (
          <Paper withBorder radius="lg" className="empty">
            <EmptyState variant="light" {...list.empty} />
          </Paper>
        ) : (
          <Paper component="ul" withBorder radius="lg" className="card-list" aria-label={list.label}>
            {shown.map(row)}
          </Paper>
        )
      }
    </Shown>
  );
}

export type TableProps<Item> = Pick<DataTableProps<Item>, 'columns' | 'rowId' | 'rowName' | 'bulk'>;

/** The same as a table, with actions on selected rows and an export of the page. */
export function ListTable<Page, Item>({
  columns,
  rowId,
  rowName,
  bulk,
  ...list
}: ListProps<Page, Item> & TableProps<Item>) {
  return (
    <Shown {...list}>
      {(shown) => (
        <DataTable
          name={list.label}
          rows={shown}
          empty={<EmptyState variant="light" {...list.empty} />}
          onBulkEnd={() => void list.page.refetch()}
          {...{ columns, rowId, rowName, ...(bulk && { bulk }) }}
        />
      )}
    </Shown>
  );
}

type ShownProps<Page, Item> = ListProps<Page, Item> & { readonly children: (shown: readonly Item[]) => ReactNode };

function Shown<Page, Item>({ label, page, items, empty, children }: ShownProps<Page, Item>) {
  const shown = isGone(page.error) || page.data === undefined ? undefined : items(page.data);
  return (
    <>
      {page.error !== null && <Refusal error={page.error} retry={() => void page.refetch()} />}
      {page.isPending && <Placeholder rows={6} height={56} />}
      {shown !== undefined && (
        <VisuallyHidden role="status">{shown.length === 0 ? empty.title : `${label}: ${shown.length}`}</VisuallyHidden>
      )}
      {shown !== undefined && children(shown)}
    </>
  );
}

type PagerProps = { readonly cursor: string | undefined; readonly next: string | null | undefined };

/** Leads to other pages of a list. The URL has the cursor, so that going back shows the page before. */
export function Pager({ cursor, next }: PagerProps) {
  const navigate = useNavigate();
  const open = (to: string | undefined) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, cursor: to }) as never }); // every list has a cursor
  if (cursor === undefined && !next) return null;
  return (
    <Group component="nav" aria-label={words.pages} justify="space-between">
      <Button variant="default" disabled={cursor === undefined} onClick={() => open(undefined)}>
        {words.first}
      </Button>
      <Button variant="default" disabled={!next} onClick={() => next && open(next)}>
        {words.next}
      </Button>
    </Group>
  );
}
