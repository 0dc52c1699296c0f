import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Caller, runFor } from '../../src/db/caller.ts';
import { createWriteQueue } from '../../src/db/write-queue.ts';

const CONNECTIONS = 5;
const PLACES = CONNECTIONS - 1;

const lockTimeout = () => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });

const aCaller = (name: string) =>
  new Caller(
    name,
    { socket: new EventEmitter() } as unknown as IncomingMessage,
    new EventEmitter() as unknown as ServerResponse,
  );

describe('work whose lock is held', () => {
  test('begins anew until it gets the lock, and runs as often as that', async () => {
    const queue = createWriteQueue(CONNECTIONS);
    let attempts = 0;

    const done = await queue.run(() => {
      attempts += 1;
      return attempts < 3 ? Promise.reject(lockTimeout()) : Promise.resolve('done');
    }, 'team');

    expect([done, attempts, queue.length]).toEqual(['done', 3, 0]);
  });

  test('for any number of teams takes half of the places, once each lock is known to be held', async () => {
    const queue = createWriteQueue(CONNECTIONS);
    const teams = Array.from({ length: 2 * PLACES }, (_, i) => `team-${i}`);
    const isTried = new Set<string>();
    const isHeld = { locks: true };
    let atWork = 0;
    let most = 0;
    const work = async (team: string) => {
      atWork += 1;
      // The first attempt finds out that the lock is held.
      if (isTried.size === teams.length) most = Math.max(most, atWork);
      await sleep(5);
      atWork -= 1;
      isTried.add(team);
      if (isHeld.locks) throw lockTimeout();
    };
    const waiting = Promise.all(teams.map((team) => runFor(aCaller(team), () => queue.run(() => work(team), team))));
    waiting.catch(() => undefined);
    await expect.poll(() => isTried.size).toBe(teams.length);
    await expect.poll(() => most).toBe(PLACES / 2);

    expect(await queue.run(() => Promise.resolve('done'), 'free team')).toBe('done');
    isHeld.locks = false;
    await waiting;

    expect(queue.length).toBe(0);
  });

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

  test('is not tried again for another error', async () => {
    const queue = createWriteQueue(CONNECTIONS);
    let attempts = 0;
    const work = () => Promise.reject(new Error(`attempt ${(attempts += 1)}`));

    await expect(queue.run(work, 'team')).rejects.toThrow('attempt 1');

    expect(attempts).toBe(1);
  });
});
