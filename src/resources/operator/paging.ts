import { z } from 'zod';
import { invalidInput } from '../../errors.ts';
import { text } from '../../procedures/fields.ts';

export const PAGE_MAX = 100;

/** What a page reads: one row more tells whether there are others. A constant, so that plans know that it is small. */
export const PAGE_ROWS = PAGE_MAX + 1;

/** The end of all strings that begin with a prefix, in the order of bytes. */
export const PREFIX_END = 'chr(1114111)';

export const pageInput = {
  cursor: text(1, 4096).optional().meta({ description: 'The `nextCursor` of the page before.', example: 'WyJ…' }),
  limit: z.int().min(1).max(PAGE_MAX).default(50).meta({ description: 'How many a page has at most.', example: 50 }),
};

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The cursor of the next page. Null if this is the last one.' });

/** Where the next page begins: after the last row, in the order of the list. A row without a value has null. */
export type Position = { readonly sort: string | null; readonly id: string };

/** Before the first row of a list in ascending order. */
export const START = { sort: '', id: '' } as const satisfies Position;

export const invalidCursor = () =>
  invalidInput('/cursor', 'The cursor is not of this list.', 'invalid_format', 'query');

const storable = text(0, 4096);
const position = z.tuple([z.string(), storable.nullable(), storable]);

/** Reads a cursor. A list with another search or order continues nothing, so its cursor is rejected. */
export function readCursor(search: string, cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const { data: [of, sort, id] = [] } = position.safeParse(parse(cursor));
  if (of !== search || sort === undefined || id === undefined) throw invalidCursor();
  return { sort, id };
}

/** Returns the cursor after a row. */
export const toCursor = (search: string, id: string, sort: string | null = ''): string =>
  Buffer.from(JSON.stringify([search, sort, id])).toString('base64url');

/** Divides the rows that were read into a page and the cursor of the next one. */
export function toPage<Row extends Position>(search: string, rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { page, nextCursor: isLast ? null : toCursor(search, last.id, last.sort) };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
}

/** Returns the one search that an input has, as its name and text. */
export function toSearch(given: Readonly<Record<string, string | undefined>>): readonly [name: string, text: string] {
  const [first = ['', ''], second] = Object.entries(given).filter(([, value]) => value !== undefined);
  if (second !== undefined)
    throw invalidInput(`/${second[0]}`, 'Search by one of the fields.', 'invalid_value', 'query');
  return [first[0], first[1] ?? ''];
}
