import { useTableState, type ServiceOrder } from '../../components/table/table-state.ts';

/**
 * Returns the order in the URL of a list that the service sorts, as an input and for its table. Another column is sorted
 * in ascending order first, and from the first page.
 * @param columns the columns that the list, as it is searched, can be sorted by; the first one is the default
 */
export function useListOrder<Column extends string>(
  columns: readonly [Column, ...Column[]],
): { readonly input: { readonly sort?: Column | `-${Column}` }; readonly order: ServiceOrder } {
  const {
    state: { sorting },
    change,
  } = useTableState();
  const chosen = columns.find((name) => name === sorting?.column);
  const column = chosen ?? columns[0];
  const isDescending = chosen !== undefined && sorting?.isDescending === true;
  return {
    input: chosen === undefined ? {} : { sort: isDescending ? `-${column}` : column },
    order: {
      column,
      isDescending,
      columns,
      onChange: (next) => change({ sort: next === column && !isDescending ? `-${next}` : next, cursor: undefined }),
    },
  };
}
