import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { boundWait } from './bounded-wait.ts';

/** How many requests of a connection can wait for the response to another. Nearly all clients send none before it. */
const WAITING_MAX = 1000;

type Unfinished = { readonly res: ServerResponse; readonly start: () => void; readonly arrivedAt: number };

const UNFINISHED = Symbol('unfinished responses');
/** A connection with the responses that it still has to send, in order. */
type Connection = Duplex & { [UNFINISHED]?: Unfinished[] };

/**
 * Starts the first request of a connection after the event loop has looked at its sockets once more: Node.js passes a
 * request on before it notices that the connection was reset right after it. Otherwise clients that reset each connection
 * after its request would make the service work on all of them. The response to others is delayed by less than a millisecond,
 * and by nothing on a connection that is kept.
 */
const startUnlessReset = (connection: Connection, start: () => void): void =>
  void setImmediate(() =>
    setImmediate(() => {
      if (!connection.destroyed) start();
    }),
  );

/**
 * Handles the requests of a connection one after another. Their responses have to be sent in order (RFC 9112, section
 * 9.3.2), and a client that sends thousands at once would delay all others if they were handled at once.
 * @param waitMs how long a request can wait for the answer to another, unless the client reads
 * @param start handles the request; not called if the connection closes before its turn
 */
export function handleInOrder(res: ServerResponse, waitMs: number, start: () => void): void {
  // Not `res.socket`, which a pipelined response gets only when the ones before it are sent.
  const { socket } = res.req;
  const connection: Connection = socket;
  const isNew = connection[UNFINISHED] === undefined;
  const unfinished = (connection[UNFINISHED] ??= []);
  const isFirst = unfinished.length === 0;
  if (unfinished.length > WAITING_MAX) {
    connection.destroy();
    return;
  }
  // Otherwise a request that waits would run in the asynchronous context of the one before it.
  unfinished.push({ res, start: isFirst ? start : AsyncLocalStorage.bind(start), arrivedAt: performance.now() });
  if (unfinished.length === 2) boundWait(socket, waitMs, () => unfinished[1]?.arrivedAt);
  res.once('close', () => {
    unfinished.shift();
    if (!connection.destroyed) unfinished[0]?.start();
  });
  if (isNew) startUnlessReset(connection, start);
  else if (isFirst) start();
}

/** Whether the application has not answered all requests of a connection yet. */
export const hasUnfinishedResponse = (connection: Connection): boolean =>
  connection[UNFINISHED]?.some(({ res }) => !res.writableEnded) === true;

/** Returns the response to the last request of a connection that has arrived as a whole and is not answered yet. */
export const lastUnfinished = (connection: Connection): ServerResponse | undefined =>
  connection[UNFINISHED]?.findLast(({ res }) => res.req.complete)?.res;
