import { query, type Query, type QueryRunner } from '../../db/query.ts';
import { invalidInput } from '../../problems/error.ts';
import { invalidCursor, type List, type Position } from '../../procedures/cursors.ts';
import { PAGE_ROWS, START } from './paging.ts';

/** SQL for each direction. `$2` and `$3` are the value and the id of the last row of the page before. */
type Directions = readonly [ascending: string, descending: string];

/** What a list can be sorted by. Each field needs an index that has its order. */
export type SortField = {
  /** The expression of the index. */
  readonly value: string;
  readonly after: Directions;
  readonly orderBy: Directions;
  /** The rows that have no value, which come last in both directions. Without it, all have one. */
  readonly without?: { readonly where: string; readonly orderBy: Directions } | undefined;
};

/** The order of creation, which is that of the ids. */
export const byCreation = (id: string): SortField => ({
  value: `''`,
  after: [`${id} > $3`, `${id} < $3`],
  orderBy: [id, `${id} desc`],
});

/** A value that several rows can have. @param none what rows have instead that have none: null or an empty text */
export function byValue(value: string, id: string, none?: 'is null' | `= ''`): SortField {
  const has = none === `= ''` ? `${value} > '' and ` : '';
  const orderBy: Directions = [`${value}, ${id}`, `${value} desc, ${id} desc`];
  return {
    value,
    after: [`${has}(${value}, ${id}) > ($2, $3)`, `${has}(${value}, ${id}) < ($2, $3)`],
    orderBy,
    ...(none !== undefined && { without: { where: `${value} ${none}`, orderBy } }),
  };
}

/** A value that no two rows have. */
export const byUnique = (value: string): SortField => ({
  value,
  after: [`${value} > $2`, `${value} < $2`],
  orderBy: [value, `${value} desc`],
});

type Rows<Row> = Query<Row & { sort: string | null }>;

/** The statements of a list in one order. */
export type SortedPages<Row> = {
  readonly rows: readonly [ascending: Rows<Row>, descending: Rows<Row>];
  readonly rowsWithout?: readonly [ascending: Rows<Row>, descending: Rows<Row>];
};

/** All pages take the same parameters, also those that need fewer. */
const PARAMETERS = '($1::text, $2::text, $3::text) is not null';

/** Declares the pages of a list. @param where what the list contains; `$1` is the beginning that it searches */
export function declarePages<Row>(
  name: string,
  select: (sort: string) => string,
  { value, after, orderBy, without }: SortField,
  where = 'true',
): SortedPages<Row> {
  const declare = (suffix: string, [condition, sort, order]: readonly [string, string, string]): Rows<Row> =>
    query(
      `${name}${suffix}`,
      `${select(sort)} where ${where} and ${condition} and ${PARAMETERS} order by ${order} limit ${PAGE_ROWS}`,
      { rows: 'many' },
    );
  const [up, down] = byCreation('id').after;
  return {
    rows: [declare('', [after[0], value, orderBy[0]]), declare('_desc', [after[1], value, orderBy[1]])],
    ...(without !== undefined && {
      rowsWithout: [
        declare('_without', [`${without.where} and ${up}`, 'null', without.orderBy[0]]),
        declare('_without_desc', [`${without.where} and ${down}`, 'null', without.orderBy[1]]),
      ],
    }),
  };
}

/** Comes after every text that a list is sorted by: names have at most 511 characters. */
const LAST_TEXT = '\u{10FFFF}'.repeat(512);

/** Returns the position before the first row. */
export const startOf = (isDescending: boolean): Position => (isDescending ? { sort: LAST_TEXT, id: LAST_TEXT } : START);

export type Order<Field extends string> = { readonly field: Field; readonly isDescending: boolean };

/**
 * Reads a page, and one row more if others follow.
 * @param prefix the beginning that is searched; empty for lists that are not
 * @param after the end of the page before
 * @throws validation_failed (400) for a position that the list cannot have
 */
export async function readSorted<Row>(
  db: QueryRunner,
  { rows: [ascending, descending], rowsWithout }: SortedPages<Row>,
  { isDescending }: Order<string>,
  prefix: string,
  after: Position | undefined,
) {
  const start = startOf(isDescending);
  const { sort, id } = after ?? start;
  const rows = sort === null ? [] : await db.query(isDescending ? descending : ascending, [prefix, sort, id]);
  if (rowsWithout === undefined) {
    if (sort === null) throw invalidCursor();
    return rows;
  }
  if (rows.length >= PAGE_ROWS) return rows;
  const rest = await db.query(rowsWithout[isDescending ? 1 : 0], [prefix, '', sort === null ? id : start.id]);
  return [...rows, ...rest].slice(0, PAGE_ROWS);
}

/**
 * Returns the order that `sort` names: a field, with `-` before it in the other direction.
 * @param fields the fields that the list can be sorted by; the first one is the default
 * @throws validation_failed (400)
 */
export function toOrder<Field extends string>(sort: string | undefined, fields: readonly Field[]): Order<Field> {
  const name = sort?.replace(/^-/, '');
  const field = name === undefined ? fields[0] : fields.find((known) => known === name);
  if (field === undefined)
    throw invalidInput('/sort', `This list can be sorted by ${fields.join(', ')}.`, 'invalid_value', 'query');
  return { field, isDescending: sort?.startsWith('-') === true };
}

/** Returns what the cursors of a list are of. */
export const toSearchedList = (
  name: string,
  search: readonly [name: string, text: string],
  order: Order<string>,
): List => [name, ...search, order.field, order.isDescending];
