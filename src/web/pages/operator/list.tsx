import { Button, EmptyState, Group, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Placeholder } from '../../components/page.tsx';
import { DataTable, type DataTableProps } from '../../components/table/data-table.tsx';
import type { ServiceOrder } from '../../components/table/table-state.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { isGone, Refusal } from './operators.tsx';

const words = areaTexts.list;

export type TableProps<Item> = Pick<
  DataTableProps<Item>,
  'columns' | 'rowId' | 'rowName' | 'bulk' | 'actions' | 'tools' | 'hasOwnExport'
>;

type ListTableProps<Page, Item> = TableProps<Item> & {
  readonly label: string;
  readonly page: UseQueryResult<Page>;
  readonly items: (page: Page) => readonly Item[];
  readonly empty: { readonly title: string; readonly description: string };
  /** The place in the list; undefined at its beginning. */
  readonly cursor: string | undefined;
  readonly next: string | null | undefined;
  /** Whether the service searches and filters the list. */
  readonly isSearched?: boolean;
  /** The order in which the service lists more than one page. */
  readonly order?: ServiceOrder;
};

/**
 * A page of a list, in any of its states. A list that is one page can be sorted and, unless the service does, searched
 * and filtered. In a part of a longer list that would mislead, so only the service can sort it.
 */
export function ListTable<Page, Item>(props: ListTableProps<Page, Item>) {
  const { label, page, items, empty, cursor, next, isSearched = false, order, ...table } = props;
  const shown = isGone(page.error) || page.data === undefined ? undefined : items(page.data);
  const isWhole = cursor === undefined && !next;
  return (
    <>
      {page.error !== null && <Refusal error={page.error} retry={() => void page.refetch()} />}
      {page.isPending && <Placeholder rows={6} height={56} />}
      {shown !== undefined && (
        <>
          <VisuallyHidden role="status">
            {shown.length === 0 ? empty.title : `${label}: ${shown.length}`}
          </VisuallyHidden>
          <DataTable
            name={label}
            rows={shown}
            empty={<EmptyState variant="light" {...empty} />}
            canSort={isWhole}
            {...(!isWhole && order !== undefined && { order })}
            {...(isWhole && !isSearched && { texts: words.table })}
            onBulkEnd={() => void page.refetch()}
            {...table}
          />
        </>
      )}
      <Pager cursor={cursor} next={next} />
    </>
  );
}

type PagerProps = { readonly cursor: string | undefined; readonly next: string | null | undefined };

/** Leads to other pages of a list. The URL has the cursor, so that going back shows the page before. */
function Pager({ cursor, next }: PagerProps) {
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
