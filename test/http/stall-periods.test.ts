import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cutOffStalledReaders } from '../../src/http/stalled-readers.ts';

const STALL_MS = 30_000;
const PERIOD_MS = STALL_MS / 6;

/** A connection whose client reads nothing, on a clock of the test's. */
function aConnection({ writableLength = 1, isResponding = false } = {}) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new EventEmitter() as EventEmitter & { timeout: number };
  const connection = {
    writableLength,
    timeout: PERIOD_MS,
    isDestroyed: false,
    setTimeout: vi.fn<() => void>(),
    destroy: () => void (connection.isDestroyed = true),
  };
  cutOffStalledReaders(server as unknown as Server, STALL_MS, () => isResponding); // only what it uses
  return {
    server,
    connection,
    /** What Node says after a time without progress, of the length of a period by default. */
    stalls: (ms = PERIOD_MS) => {
      vi.advanceTimersByTime(ms);
      server.emit('timeout', connection as unknown as Socket);
    },
  };
}

test('a client that reads nothing is cut off at the end of its time, not in twice that', () => {
  const { server, connection, stalls } = aConnection();

  for (let period = 1; period < 6; period += 1) stalls();
  expect(server.timeout).toBe(PERIOD_MS);
  expect(connection.isDestroyed).toBe(false);

  stalls();
  expect(connection.isDestroyed).toBe(true);
});

// Node takes the first writing of bytes for progress, and is silent for one period more.
test('what Node takes for progress begins the time anew, at most two periods late', () => {
  const { connection, stalls } = aConnection();

  stalls();
  stalls(2 * PERIOD_MS);
  for (let period = 2; period < 6; period += 1) stalls();
  expect(connection.isDestroyed).toBe(false);

  stalls();
  expect(connection.isDestroyed).toBe(true);
});

test('a client that waits for an answer of the application is not cut off', () => {
  const { connection, stalls } = aConnection({ writableLength: 0, isResponding: true });

  for (let period = 0; period < 20; period += 1) stalls();

  expect(connection.isDestroyed).toBe(false);
});

test('a connection without a request is closed by the time of its own', () => {
  const { connection, stalls } = aConnection({ writableLength: 0 });
  connection.timeout = 65_000;

  stalls(65_000);

  expect(connection.isDestroyed).toBe(true);
});
