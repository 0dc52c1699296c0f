import { useNavigate, useSearch } from '@tanstack/react-router';

export type Sorting = { readonly column: string; readonly isDescending: boolean };

/** The order of rows that the service sorts, the columns that it can sort by, and how another one is chosen. */
export type ServiceOrder = Sorting & {
  readonly columns: readonly string[];
  readonly onChange: (column: string) => void;
};

/** What the user has chosen. It is in the URL, so that it survives a reload and can be shared. */
export type TableState = {
  readonly search: string;
  readonly sorting: Sorting | undefined;
  readonly hidden: ReadonlySet<string>;
  /** The chosen values, by column. */
  readonly filters: Readonly<Record<string, string | undefined>>;
};

type TableParameter = 'q' | 'sort' | 'hide';
export type TableSearch<Filter extends string = never> = { [Name in TableParameter | Filter]?: string };

/**
 * Returns how a route validates the search parameters of its table: `q`, `sort` (a column, `-` before it for
 * descending), `hide` (columns, separated by commas) and the filters.
 */
export const tableSearch =
  <Filter extends string = never>(...filters: readonly Filter[]) =>
  (search: Record<string, unknown>): TableSearch<Filter> => {
    const known = (['q', 'sort', 'hide', ...filters] as const).flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    });
    return Object.fromEntries(known) as TableSearch<Filter>; // only known names
  };

type Parameters = Readonly<Record<string, string | undefined>>;

/** Returns the state in the URL, and how to change its parameters. Undefined removes a parameter. */
export function useTableState() {
  const { q, sort, hide, ...filters }: Parameters = useSearch({ strict: false });
  const navigate = useNavigate();
  const state: TableState = { search: q ?? '', sorting: parseSort(sort), hidden: new Set(hide?.split(',')), filters };
  const change = (parameters: Parameters) =>
    void navigate({
      to: '.',
      search: (previous: object) => ({ ...previous, ...parameters }),
      replace: true,
      resetScroll: false,
    });
  return { state, change };
}

const parseSort = (sort: string | undefined): Sorting | undefined =>
  sort === undefined ? undefined : { column: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') };

/** Returns the next value of `sort` after a click on a column: ascending, descending, then the order of the list. */
export function nextSort(column: string, sorting: Sorting | undefined): string | undefined {
  if (sorting?.column !== column) return column;
  return sorting.isDescending ? undefined : `-${column}`;
}
