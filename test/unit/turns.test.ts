import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { RequestCaller } from '../../src/db/turns/request-caller.ts';
import { BusyError, CallerGoneError, Turns } from '../../src/turns.ts';

const LIMITS = { total: 4, perKey: 2, queuePerKey: 5, waitMs: 60_000 };

/** A caller whose client can hang up. */
function aCaller() {
  const [socket, response] = [new EventEmitter(), new EventEmitter()];
  const request = { socket } as unknown as IncomingMessage;
  return {
    caller: new RequestCaller('192.0.2.1', request, response as ServerResponse),
    hangUp: () => response.emit('close'),
  };
}

const { caller: anybody } = aCaller();

/** Starts work that runs until it is ended, and notes what has started. */
function workshop(limits: Partial<typeof LIMITS> = {}) {
  const turns = new Turns({ ...LIMITS, ...limits });
  const started: string[] = [];
  const endings = new Map<string, () => void>();
  const settle = () => new Promise(setImmediate);
  return {
    turns,
    started,
    begin: (name: string, keys: readonly string[], by: RequestCaller | 'nobody' = anybody) => {
      const caller = by === 'nobody' ? undefined : by;
      const done = turns.run({ keys, caller }, async () => {
        started.push(name);
        await new Promise<void>((resolve) => endings.set(name, resolve));
      });
      done.catch(() => undefined);
      return done;
    },
    end: async (name: string) => {
      endings.get(name)?.();
      await settle();
    },
    settle,
  };
}

describe('work in turns', () => {
  test('has at most its share of the places for each account and each team', async () => {
    const { begin, started, settle } = workshop();

    for (const name of ['a1', 'a2', 'a3']) void begin(name, ['a']);
    void begin('b1', ['b', 'team']);
    void begin('c1', ['c', 'team']);
    void begin('d1', ['d', 'team']);
    await settle();

    expect(started).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  // Guarantees that the thousands that can wait for a product cost others nothing.
  test('of an account that has its share is not looked at when others leave', async () => {
    const { begin, end, settle } = workshop({ queuePerKey: Infinity });
    let looks = 0;
    const keys = Object.assign(['a'], {
      every(...args: Parameters<string[]['every']>) {
        looks += 1;
        return Array.prototype.every.apply(this, args);
      },
    });
    for (let i = 0; i < 1000; i += 1) void begin(`a${i}`, keys);
    void begin('b1', ['b']);
    await settle();
    const before = looks;

    await end('b1');

    expect(looks - before).toBe(0);
  });

  test('of one account leaves a place to every other account, whose work comes next', async () => {
    const { begin, end, started, settle } = workshop({ total: 2 });

    for (const name of ['a1', 'a2', 'a3', 'a4']) void begin(name, ['a']);
    void begin('b1', ['b']);
    await settle();
    await end('a1');
    await end('a2');
    await end('b1');

    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
  });

  test('goes past what waits for a team, and in order for one account', async () => {
    const { begin, end, started, settle } = workshop();

    void begin('x', ['x', 'team']);
    void begin('y', ['y', 'team']);
    void begin('a in the team', ['a', 'team']);
    void begin('a elsewhere', ['a']);
    await settle();
    expect(started).toEqual(['x', 'y', 'a elsewhere']);
    await end('x');

    expect(started.at(-1)).toBe('a in the team');
  });

  test('is refused at once where too much waits, and others are not', async () => {
    const { begin, settle, started } = workshop();

    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void begin(name, ['a']);
    await expect(begin('a6', ['a'])).rejects.toThrow(BusyError);
    void begin('b1', ['b']);
    await settle();

    expect(started).toEqual(['a1', 'a2', 'b1']);
  });

  test('is refused where its turn does not come in time', async () => {
    const { begin, started } = workshop({ perKey: 1, waitMs: 1 });

    void begin('a1', ['a']);
    await expect(begin('a2', ['a'])).rejects.toThrow(BusyError);

    expect(started).toEqual(['a1']);
  });

  test('never starts when its client has gone, and gives its place in the queue away', async () => {
    const { begin, end, started, turns } = workshop({ perKey: 1, queuePerKey: 2 });
    const { caller, hangUp } = aCaller();

    void begin('a1', ['a']);
    const waiting = begin('a2', ['a'], caller);
    hangUp();
    await expect(waiting).rejects.toThrow(CallerGoneError);
    void begin('a3', ['a']);
    await end('a1');

    expect(started).toEqual(['a1', 'a3']);
    await end('a3');
    expect(turns.queued).toBe(0);
  });

  test('of jobs waits as long as it takes, also where much waits', async () => {
    const { begin, end, started, settle } = workshop({ perKey: 1, queuePerKey: 1, waitMs: 1 });
    const jobs = ['j1', 'j2', 'j3'];

    for (const name of jobs) void begin(name, ['background'], 'nobody');
    await settle();
    for (const name of jobs) await end(name);

    expect(started).toEqual(jobs);
  });

  test('frees its place when it fails', async () => {
    const { turns } = workshop({ perKey: 1 });
    const claim = { keys: ['a'], caller: anybody };

    await expect(turns.run(claim, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');

    expect(await turns.run(claim, () => Promise.resolve('done'))).toBe('done');
    expect(turns.queued).toBe(0);
  });
});
