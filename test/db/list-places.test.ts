import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { RequestCaller } from '../../src/db/turns/request-caller.ts';
import { ListPlaces, PLACE_LIMITS, type PlaceLimits } from '../../src/db/lists/places.ts';

/** More than the kernel buffers on a loopback connection. */
const LONG = Buffer.alloc(32 * 1024 * 1024, 'x');
const READ_MS = 50;

/** A server on which each request takes a place for the account of its path and is sent a long answer. */
async function aServer(limits: Partial<PlaceLimits>) {
  const places = new ListPlaces({ ...PLACE_LIMITS, readMs: READ_MS, ...limits });
  const begun: string[] = [];
  const closed = vi.fn<(path: string) => void>();
  const work = async (req: IncomingMessage, res: ServerResponse) => {
    const [, accountId = '', credentialId = ''] = (req.url ?? '').split('/');
    res.once('close', () => closed(req.url ?? ''));
    const caller = new RequestCaller('192.0.2.1', req, res);
    caller.identify({ accountId, credentialId });
    await places.take(caller);
    begun.push(accountId);
    res.end(LONG);
  };
  const server = createServer((req, res) => void work(req, res).catch(() => res.destroy()));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  /** @returns the response once it begins; it is not read before that is asked for */
  const ask = (path: string) =>
    new Promise<IncomingMessage>((resolve) => {
      get({ port, path, agent: false }, resolve).on('error', () => undefined);
    });
  return { places, begun, ask, closed };
}

const read = async (answer: IncomingMessage): Promise<number> => {
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) length += chunk.length;
  return length;
};

describe('the places of lists', () => {
  test('go from a client that does not read to another account that waits for one', async () => {
    const { ask, closed } = await aServer({ total: 1 });
    await ask('/slow/one');

    const answer = await ask('/other/one');

    expect(await read(answer)).toBe(LONG.length);
    expect(closed).toHaveBeenCalledWith('/slow/one');
  });

  test('of one account are taken by all of its credentials, and are not missed by others', async () => {
    const { ask, begun, places, closed } = await aServer({ total: 3 });
    await Promise.all([ask('/busy/a'), ask('/busy/b')]);
    for (const key of ['c', 'd', 'e']) void ask(`/busy/${key}`);
    await expect.poll(() => places.length).toBe(5);

    const answer = await ask('/other/one');

    expect(begun).toEqual(['busy', 'busy', 'other']);
    expect(await read(answer)).toBe(LONG.length);
    await expect.poll(() => closed.mock.calls).toEqual([['/other/one']]);
  });

  test('are kept by a client that does not read as long as only its own account waits', async () => {
    const { ask, begun, closed } = await aServer({ total: 2, waitMs: 10 * READ_MS });
    await Promise.all([ask('/slow/a'), ask('/slow/b')]);

    void ask('/slow/c');

    // It is refused after its time, which is many times the one after which the others would be cut off.
    await expect.poll(() => closed.mock.calls).toEqual([['/slow/c']]);
    expect(begun).toEqual(['slow', 'slow']);
  });

  test('of all accounts together are bounded', async () => {
    const { ask, begun, places } = await aServer({ total: 3, readMs: 60_000 });

    for (let i = 0; i < 10; i += 1) void ask(`/account-${i}/key-${i}`);
    await expect.poll(() => places.length).toBe(10);
    await expect.poll(() => begun.length).toBe(3);
    await new Promise(setImmediate);

    expect(begun).toHaveLength(3);
  });
});

test('a request has one place, until it is over', async () => {
  const places = new ListPlaces({ ...PLACE_LIMITS, total: 1 });
  const begun: string[] = [];
  const aRequest = (name: string) => {
    const [req, res] = [{ socket: new EventEmitter() }, new EventEmitter()];
    const caller = new RequestCaller(name, req as IncomingMessage, res as ServerResponse); // what `over` listens to
    return {
      take: () => places.take(caller).then(() => void begun.push(name)),
      end: () => void res.emit('close'),
      listeners: () => res.listenerCount('close') + req.socket.listenerCount('close'),
    };
  };
  const [one, other] = [aRequest('one'), aRequest('other')];

  await Promise.all([one.take(), one.take()]);
  const later = other.take();
  await one.take();

  expect(begun).toEqual(['one', 'one', 'one']);
  one.end();
  await later;
  other.end();
  expect(places.length).toBe(0);
  expect([one, other].map(({ listeners }) => listeners())).toEqual([0, 0]);
});
