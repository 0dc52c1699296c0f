import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { RequestCaller, runFor } from '../../src/db/turns/request-caller.ts';
import { createWriteQueue } from '../../src/db/turns/write-queue.ts';

const CONNECTIONS = 5;
const PLACES = CONNECTIONS - 1;

const lockTimeout = () => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });

const aCaller = (name: string) =>
  new RequestCaller(
    name,
    { socket: new EventEmitter() } as unknown as IncomingMessage,
    new EventEmitter() as unknown as ServerResponse,
  );

// What else the queue promises is promised over HTTP (test/rest/fairness.nightly.test.ts).
describe('work whose lock is held', () => {
  test('is patient no more once nothing else waits for the lock', async () => {
    const queue = createWriteQueue(CONNECTIONS);
    const locked = Promise.withResolvers<void>();
    let atWork = 0;
    /** Finds the lock held, and then keeps its place. */
    const hold = (team: string) => {
      let attempts = 0;
      const work = async () => {
        attempts += 1;
        if (attempts === 1) throw lockTimeout();
        atWork += 1;
        await locked.promise;
      };
      return runFor(aCaller(team), () => queue.run(work, team));
    };
    const failures = [lockTimeout(), new Error('other')];
    const given = queue.run(() => Promise.reject(failures.shift() ?? new Error('none')), 'team');
    await expect(given).rejects.toThrow('other');

    const holders = Array.from({ length: PLACES / 2 }, (_, i) => hold(`held-${i}`));
    await expect.poll(() => atWork).toBe(PLACES / 2);
    expect(await queue.run(() => Promise.resolve('done'), 'team')).toBe('done');

    locked.resolve();
    await Promise.all(holders);
  });
});
