import { expect } from 'vitest';
import { collect, LongList } from '../../src/db/long-lists/long-list.ts';
import { PART_ITEMS } from '../../src/db/long-lists/parts.ts';
import { query } from '../../src/db/query.ts';

import { test, type Api } from '../support/api.ts';

const ROWS = 30_050;

/** More than the buffers of a socket hold. */
const rows = query<{ n: string; text: string }>(
  'test_long_list',
  `select n::text as n, repeat('x', 1000) as text from generate_series(1, $1::int) n`,
);

/** Lists the rows for the second time, because only then they are known to be many. */
async function aLongList({ services: { db } }: Api): Promise<LongList<number>> {
  const read = () => db.list(rows, [ROWS], ({ n }) => Number(n));
  await collect(await read());
  const list = await read();
  if (!(list instanceof LongList)) throw new Error('The list is not read in parts.');
  return list;
}

const waitsForUs = ({ rows: select }: Api) =>
  select(`select 1 from pg_stat_activity where query like '%repeat(''x''%' and wait_event = 'ClientWrite'`);

test('PostgreSQL waits while a part of a long list is worked on', async ({ api }) => {
  const list = await aLongList(api);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const parts: (readonly number[])[] = [];

  const read = list.forEachPart(async (part) => {
    parts.push(part);
    await gate;
  });
  await expect.poll(() => waitsForUs(api)).toHaveLength(1);
  expect(parts).toHaveLength(1);
  open();
  await read;

  expect(parts.flat()).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
  expect(new Set(parts.slice(0, -1).map(({ length }) => length))).toEqual(new Set([PART_ITEMS]));
});

test('a long list that cannot be worked on ends its statement, and the next one is read', async ({ api }) => {
  const list = await aLongList(api);
  const refused = new Error('refused');

  await expect(list.forEachPart(() => Promise.reject(refused))).rejects.toBe(refused);

  await expect.poll(() => waitsForUs(api)).toHaveLength(0);
  expect(await collect(list)).toHaveLength(ROWS);
});
