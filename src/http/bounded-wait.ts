import type { Socket } from 'node:net';

const CHECKS_PER_WAIT = 6;

const watched = new WeakSet<Socket>();

/**
 * Destroys a connection whose requests wait too long for the answer to another one. The buffers of the system take many
 * answers of a client that reads none, so that they were sent is no sign that it reads. Bytes that wait for the client
 * are bounded by `cutOffStalledReaders` instead, which sees whether it does.
 * @param findOldest returns when the oldest request that waits has arrived, or undefined if none waits any more
 */
export function boundWait(connection: Socket, waitMs: number, findOldest: () => number | undefined): void {
  if (watched.has(connection)) return;
  watched.add(connection);
  let fullAt = -Infinity;
  const clock = setInterval(() => {
    const oldest = findOldest();
    if (oldest === undefined || connection.destroyed) {
      clearInterval(clock);
      watched.delete(connection);
      return;
    }
    const now = performance.now();
    if (connection.writableLength > 0) fullAt = now;
    if (now - Math.max(oldest, fullAt) >= waitMs) connection.destroy();
  }, waitMs / CHECKS_PER_WAIT).unref();
}
