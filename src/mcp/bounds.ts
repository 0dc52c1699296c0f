import { ProblemError } from '../problems/error.ts';
import type { Context } from '../procedures/context.ts';
import type { JsonList } from '../db/lists/json-list.ts';
import type { Arguments } from './results.ts';
import { PAGE_SIZE, type ToolSource } from './tools.ts';

/** What a list procedure returns. */
export type List = readonly unknown[] | JsonList;

/**
 * The most characters of the items in one answer, as JSON. Clients cut or store answers of more than about 25,000
 * tokens, and a list of ids has a token for every two or three characters.
 */
const ITEMS_LENGTH_MAX = 30_000;

/** Returns the first items that fit into an answer; one always does. */
function takeFitting(items: readonly unknown[]): readonly unknown[] {
  let length = 0;
  const end = items.findIndex((item) => (length += JSON.stringify(item).length) > ITEMS_LENGTH_MAX);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}

/** @throws validation_failed (400) */
export function parseOffset(offset: unknown): number {
  if (Number.isSafeInteger(offset) && Number(offset) >= 0) return Number(offset);
  throw new ProblemError('validation_failed', '`offset` is not a whole number from 0.', {
    errors: [{ in: 'body', pointer: '/offset', code: 'min_value', params: { min: 0 } }],
  });
}

/** Returns one page of a list. */
export function toPage(items: List, start: number): Arguments {
  const page = takeFitting(items.slice(start, start + PAGE_SIZE));
  const end = start + page.length;
  return { items: page, total: items.length, nextOffset: page.length > 0 && end < items.length ? end : null };
}

/**
 * Calls a procedure. If its answer has a page of items that is too long, it is read again with a smaller `limit`, so that
 * the cursor is that of the last item.
 */
export async function readWithin(ctx: Context, source: ToolSource, input: Arguments): Promise<Arguments> {
  const read = async (limits: Arguments) =>
    (await source.call(ctx, () => Promise.resolve({ ...input, ...limits }))) as Arguments; // an object, as it is no list
  const answer = await read({});
  if (!Object.hasOwn(source.input?.shape ?? {}, 'limit')) return answer;
  const items = Object.values(answer).find((value) => Array.isArray(value)) ?? [];
  const { length } = takeFitting(items);
  return length < items.length ? read({ limit: length }) : answer;
}
