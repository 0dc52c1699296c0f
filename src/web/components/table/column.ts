import type { ReactNode } from 'react';

/** What a column sorts, searches and exports; null sorts last. */
export type Value = string | number | boolean | null;

export type Column<Row> = {
  /** The name of the column in the URL. */
  readonly id: string;
  readonly title: string;
  readonly value: (row: Row) => Value;
  readonly cell: (row: Row) => ReactNode;
  /** The text that the search finds. Columns without it are not searched. */
  readonly search?: (row: Row) => string;
  /** What the export contains instead of `value`. */
  readonly csv?: (row: Row) => Value;
  /** A choice of one value, such as a role. The route has to accept it as a search parameter named like the column. */
  readonly filter?: {
    /** The name of the choice, if the title of the column does not name its values. */
    readonly label?: string;
    readonly options: readonly { readonly value: string; readonly label: string }[];
    readonly value: (row: Row) => string;
  };
  /** A CSS length, or a percentage. Columns without it share the rest. */
  readonly width?: string;
  readonly className?: string;
  /** Whether the title stands before the value where a row is shown as a card. */
  readonly isLabelled?: boolean;
  /** Whether the column is shown only to those who choose it. */
  readonly isHiddenByDefault?: boolean;
  /** Whether the column is in the export, and not in the table. */
  readonly isExportOnly?: boolean;
};

/** The first column names the row: it is its header and cannot be hidden. */
export const visibleColumns = <Row>(columns: readonly Column<Row>[], hidden: ReadonlySet<string>) =>
  columns.filter(({ id, isExportOnly = false }, index) => !isExportOnly && (index === 0 || !hidden.has(id)));

/** Returns the hidden columns by what the URL has: their names, and after `-` those that are hidden by default and shown. */
export const hiddenColumns = <Row>(columns: readonly Column<Row>[], chosen: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(
    columns
      .filter(({ id, isHiddenByDefault = false }) => (isHiddenByDefault ? !chosen.has(`-${id}`) : chosen.has(id)))
      .map(({ id }) => id),
  );

/** Returns what the URL has for hidden columns. Undefined is the default. */
export function chosenColumns<Row>(columns: readonly Column<Row>[], hidden: ReadonlySet<string>): string | undefined {
  const chosen = columns
    .filter(({ id, isHiddenByDefault = false }) => hidden.has(id) !== isHiddenByDefault)
    .map(({ id, isHiddenByDefault = false }) => (isHiddenByDefault ? `-${id}` : id));
  return chosen.length === 0 ? undefined : chosen.join(',');
}
