import { z } from 'zod';
import { invalidInput } from '../../problems/error.ts';
import { cursor, type Cursors, type List, type Position } from '../../procedures/cursors.ts';

export const PAGE_MAX = 100;

/** What a page reads: one row more tells whether there are others. A constant, so that plans know that it is small. */
export const PAGE_ROWS = PAGE_MAX + 1;

/** The end of all strings that begin with a prefix, in the order of bytes. */
export const PREFIX_END = 'chr(1114111)';

export const pageInput = {
  cursor: cursor.optional().meta({ description: 'The `nextCursor` of the page before.', example: 'q2hV0m…' }),
  limit: z.int().min(1).max(PAGE_MAX).default(50).meta({ description: 'How many a page has at most.', example: 50 }),
};

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The cursor of the next page. Null if this is the last one.' });

/** Before the first row of a list in ascending order. */
export const START = { sort: '', id: '' } as const satisfies Position;

/** Divides the rows that were read into a page and the cursor of the next one. */
export function toPage<Row extends Position>(cursors: Cursors, list: List, rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { page, nextCursor: isLast ? null : cursors.write(list, last) };
}

/** Returns the one search that an input has, as its name and text. */
export function toSearch(given: Readonly<Record<string, string | undefined>>): readonly [name: string, text: string] {
  const [first = ['', ''], second] = Object.entries(given).filter(([, value]) => value !== undefined);
  if (second !== undefined)
    throw invalidInput(`/${second[0]}`, 'Search by one of the fields.', 'invalid_value', 'query');
  return [first[0], first[1] ?? ''];
}
