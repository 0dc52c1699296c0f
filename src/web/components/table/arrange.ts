import { language } from '../../messages/language.ts';
import { foldText, toSearchWords } from '../../search-words.ts';
import type { Column, Value } from './column.ts';
import type { Sorting, TableState } from './table-state.ts';

/** Returns the rows that contain every word, ignoring case and accents. */
export function createSearch<Row>(rows: readonly Row[], columns: readonly Column<Row>[]) {
  const searched = columns.flatMap(({ search }) => search ?? []);
  const entries = rows.map((row) => ({ row, text: foldText(searched.map((textOf) => textOf(row)).join(' ')) }));
  return (search: string): readonly Row[] => {
    const words = toSearchWords(search);
    if (words.length === 0) return rows;
    return entries.filter(({ text }) => words.every((word) => text.includes(word))).map(({ row }) => row);
  };
}

/** Returns the rows that have every chosen value. */
export function filterRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  chosen: TableState['filters'],
): readonly Row[] {
  const filters = columns.flatMap(({ id, filter }) => {
    const value = chosen[id];
    return filter === undefined || value === undefined ? [] : [{ valueOf: filter.value, value }];
  });
  if (filters.length === 0) return rows;
  return rows.filter((row) => filters.every(({ valueOf, value }) => valueOf(row) === value));
}

/** Returns the rows in the order of a column, as the language of the console sorts, or in their own. Equal rows keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const column = columns.find(({ id }) => id === sorting?.column);
  if (column === undefined || sorting === undefined) return rows;
  const { compare } = new Intl.Collator(language, { numeric: true, sensitivity: 'base' });
  const sign = sorting.isDescending ? -1 : 1;
  const order = (a: Value, b: Value): number => {
    // Rows without a value come last in both directions.
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === 'string' && typeof b === 'string' ? compare(a, b) : Number(a) - Number(b));
  };
  return rows
    .map((row) => ({ row, value: column.value(row) }))
    .toSorted((a, b) => order(a.value, b.value))
    .map(({ row }) => row);
}
