import { describe, expect, test, vi } from 'vitest';
import type { DatabaseHost } from '../../src/config/database-url.ts';
import { createPrimaryLocator, ReadOnlyServerError } from '../../src/db/failover/primary.ts';

const A = { host: 'a', port: 5432 };
const B = { host: 'b', port: 5432 };

type Probe = (server: DatabaseHost) => Promise<number>;

const isReadOnly: Probe = (server) => Promise.reject(new ReadOnlyServerError(server));
const doesNotRespond: Probe = () => new Promise(() => undefined);
const accepts =
  (timeline: number): Probe =>
  () =>
    Promise.resolve(timeline);

/** A locator of servers that respond by `state`, with what it has reported. */
function aLocator(state: Map<DatabaseHost, Probe>) {
  const probe = vi.fn<Probe>((server) => state.get(server)?.(server) ?? Promise.reject(new Error('refused')));
  const onMove = vi.fn<(primary: DatabaseHost) => void>();
  return { ...createPrimaryLocator([A, B], { probe, onMove }), probe, onMove };
}

describe('the primary of several servers', () => {
  test('is found although another one does not respond, as soon as it is promoted', async () => {
    const state = new Map<DatabaseHost, Probe>([
      [A, doesNotRespond],
      [B, isReadOnly],
    ]);
    const { locate, onMove } = aLocator(state);

    const located = locate();
    state.set(B, accepts(2));

    expect(await located).toBe(B);
    expect(onMove.mock.calls).toEqual([[B]]);
  });

  test('is searched for once, however many wait, and again only after a doubt', async () => {
    const { locate, doubt, probe } = aLocator(
      new Map([
        [A, isReadOnly],
        [B, accepts(1)],
      ]),
    );

    await Promise.all(Array.from({ length: 50 }, () => locate()));
    await locate();
    expect(probe).toHaveBeenCalledTimes(2);
    doubt();
    await locate();
    expect(probe).toHaveBeenCalledTimes(4);
  });

  test('is not searched for again at once where no server accepts writes, which is the error', async () => {
    const { locate, probe } = aLocator(
      new Map([
        [A, isReadOnly],
        [B, isReadOnly],
      ]),
    );

    for (let calls = 0; calls < 50; calls += 1) await expect(locate()).rejects.toThrow('is read-only');

    expect(probe).toHaveBeenCalledTimes(2);
  });

  test('is never a former one that still accepts writes', async () => {
    const state = new Map([
      [A, isReadOnly],
      [B, accepts(7)],
    ]);
    const { locate, doubt } = aLocator(state);
    expect(await locate()).toBe(B);

    state.set(A, accepts(6));
    state.set(B, isReadOnly);
    doubt();

    await expect(locate()).rejects.toThrow('on timeline 6, but 7 was seen before');
  });
});
