import { expect, onTestFinished, test, vi } from 'vitest';
import { PACED_MS, PartReader } from '../../src/db/long-lists/paced-batch.ts';
import { PART_ITEMS } from '../../src/db/long-lists/parts.ts';

const rowsFrom = (start: number, count: number) => Array.from({ length: count }, (_, i) => ({ n: start + i }));

/** A reader whose work on the first part takes until `open` is called. */
function aReader() {
  const stream = { pause: vi.fn<() => void>(), resume: vi.fn<() => void>() };
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const read: object[] = [];
  const reader = new PartReader(
    async (rows) => {
      await gate;
      read.push(...rows);
    },
    () => undefined,
  );
  reader.attach(stream as never); // the methods that it uses
  return { reader, stream, open, read };
}

test('a connection can be used by the next query while the last rows are worked on, which does not end its pauses', async () => {
  const { reader, stream, open, read } = aReader();
  reader.check(rowsFrom(0, 2 * PART_ITEMS + 1));
  expect([stream.pause, stream.resume].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);

  const end = reader.end();
  expect(stream.resume).toHaveBeenCalledOnce();
  open();
  await end;

  expect(stream.resume).toHaveBeenCalledOnce();
  expect(read).toEqual(rowsFrom(0, 2 * PART_ITEMS + 1));
});

test('PostgreSQL does not wait so long for work on the rows that the time of its statement is over', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { reader, stream, open, read } = aReader();
  const rows = rowsFrom(0, PART_ITEMS);
  reader.check(rows);

  vi.advanceTimersByTime(PACED_MS - 1);
  expect(stream.resume).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(stream.resume).toHaveBeenCalledOnce();

  vi.useRealTimers();
  rows.push(...rowsFrom(PART_ITEMS, 2 * PART_ITEMS));
  reader.check(rows);
  open();
  await reader.end();
  expect(stream.pause).toHaveBeenCalledOnce();
  expect(read).toEqual(rowsFrom(0, 3 * PART_ITEMS));
});
