import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Destroys connections whose client stops reading, so that clients cannot make the service keep responses in memory.
 * Node emits `timeout` only if no byte was read and none of the waiting bytes was written within `stallMs`.
 * @param isResponding whether the application still owes a response on this connection
 */
export function cutOffStalledReaders(
  server: Server,
  stallMs: number,
  isResponding: (connection: Socket) => boolean,
): void {
  server.timeout = stallMs;
  server.on('timeout', (connection: Socket) => {
    // No bytes wait for the client: the application is still working.
    if (connection.writableLength === 0 && isResponding(connection)) connection.setTimeout(stallMs);
    else connection.destroy();
  });
}
