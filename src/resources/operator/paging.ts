import { z } from 'zod';
import { invalidInput } from '../../errors.ts';
import { text } from '../../procedures/fields.ts';

const PAGE_MAX = 100;

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

/** Where the next page begins: after the last row, in the order of the list. */
type Position = { readonly sort: string; readonly id: string };

/** Reads a cursor. A list with another search continues nothing, so its cursor is rejected. */
export function readCursor(search: string, cursor: string | undefined): Position {
  if (cursor === undefined) return { sort: '', id: '' };
  const [of, sort, id, ...more] = parse(cursor);
  if (of !== search || typeof sort !== 'string' || typeof id !== 'string' || more.length > 0)
    throw invalidInput('/cursor', 'The cursor is not of this list.', 'invalid_format', 'query');
  return { sort, id };
}

/** Returns the cursor after a row. */
export const toCursor = (search: string, id: string, sort = ''): string =>
  Buffer.from(JSON.stringify([search, sort, id])).toString('base64url');

/** Divides the rows that were read into a page and the cursor of the next one. */
export function toPage<Row extends Position>(search: string, rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { page, nextCursor: isLast ? null : toCursor(search, last.id, last.sort) };
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** Returns the one search that an input has, as its name and text. */
export function toSearch(given: Readonly<Record<string, string | undefined>>): readonly [name: string, text: string] {
  const [first = ['', ''], second] = Object.entries(given).filter(([, value]) => value !== undefined);
  if (second !== undefined)
    throw invalidInput(`/${second[0]}`, 'Search by one of the fields.', 'invalid_value', 'query');
  return [first[0], first[1] ?? ''];
}
