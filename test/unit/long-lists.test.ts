import { initTRPC } from '@trpc/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { JsonText } from '../../src/procedures/json-text.ts';
import { presentInParts } from '../../src/procedures/long-lists.ts';
import { wrapOutput } from '../../src/procedures/middlewares.ts';

const t = initTRPC.create();

const upTo = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `"${i}"\u2028`, secret: 'hidden' }));

/** Runs a procedure that lists entries, and parses what it answers. */
async function list(entries: readonly object[]): Promise<unknown> {
  const procedure = t.procedure.output(z.array(z.object({ id: z.string() }))).query(() => entries as { id: string }[]);
  wrapOutput(procedure, [], presentInParts);
  const data: unknown = await t
    .createCallerFactory(t.router({ list: procedure }))({})
    .list();
  return data instanceof JsonText ? JSON.parse(Buffer.concat(data.parts).toString()) : data;
}

test.each([0, 1, 200, 201, 400, 401, 1000])(
  'a list of %i entries is presented whole, as its schema says',
  async (count) => {
    expect(await list(upTo(count))).toEqual(upTo(count).map(({ id }) => ({ id })));
  },
);

test.each([
  [0, 50],
  [50, 150],
  [99, 101],
  [950, 1050],
  [1000, 1100],
  [2000, 2100],
])('a page of a long list from %i to %i has its entries', async (start, end) => {
  const entries = upTo(1000).map(({ id }) => ({ id }));
  const text = await JsonText.fromList(entries, (part) => Promise.resolve(part));

  expect(text).toHaveLength(entries.length);
  expect(text.slice(start, end)).toEqual(entries.slice(start, end));
});

test('an invalid entry anywhere in a long list fails the call', async () => {
  await expect(list([...upTo(999), { id: 7 }])).rejects.toThrow('Output validation failed');
});

// Guarantees that a long list delays other requests for no longer than one part of it takes.
test('others get the event loop between the parts of long lists', async () => {
  const order: string[] = [];
  const lists = ['a', 'b'].map((name) => list(upTo(1000)).then(() => order.push(name)));
  let rounds = 0;
  const count = () => {
    rounds += 1;
    if (order.length < lists.length) setImmediate(count);
  };
  count();

  await Promise.all(lists);

  expect(rounds).toBeGreaterThanOrEqual((2 * 1000) / 200);
});
