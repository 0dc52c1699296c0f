import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** In how many periods the time that a client has is divided. */
const PERIODS = 6;

/** Since when nothing happened on a connection, and when Node said so last. */
type Silence = { readonly since: number; readonly saidAt: number };

/**
 * Destroys connections whose client stops reading, so that clients cannot make the service keep responses in memory:
 * after `stallMs` without any byte, and at most two of six periods later. Node emits `timeout` if no byte was read and
 * none of the waiting bytes was written in a period, and takes the first writing of bytes for progress in the next one.
 * That would double the time if the period was all of it.
 * @param isResponding whether the application still owes a response on this connection
 */
export function cutOffStalledReaders(
  server: Server,
  stallMs: number,
  isResponding: (connection: Socket) => boolean,
): void {
  const periodMs = Math.ceil(stallMs / PERIODS);
  const silences = new WeakMap<Socket, Silence>();
  server.timeout = periodMs;
  server.on('timeout', (connection: Socket) => {
    // No bytes wait for the client: the application is still working.
    if (connection.writableLength === 0 && isResponding(connection)) {
      silences.delete(connection);
      connection.setTimeout(periodMs);
      return;
    }
    const now = performance.now();
    const last = silences.get(connection);
    // After progress, Node says nothing for at least one period more.
    const since = last !== undefined && now - last.saidAt < 1.5 * periodMs ? last.since : now - periodMs;
    // Another timeout is that of connections without a request (`keepAliveTimeout`).
    if (connection.timeout !== periodMs || now - since >= stallMs - periodMs / 2) {
      connection.destroy();
      return;
    }
    silences.set(connection, { since, saidAt: now });
    connection.setTimeout(periodMs);
  });
}
