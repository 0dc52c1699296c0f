import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Caller } from '../../src/db/turns/caller.ts';
import { ListPlaces, PLACE_LIMITS, type ListKind, type PlaceLimits } from '../../src/db/long-lists/places.ts';

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
    const caller = new Caller('192.0.2.1', req, res);
    caller.identify({ accountId, credentialId });
    await places.take(caller, 'long');
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

/** Requests of different accounts, for which there is one place of each kind. */
function aScene() {
  const places = new ListPlaces({ ...PLACE_LIMITS, total: 1 });
  const begun: string[] = [];
  const aRequest = (name: string) => {
    const res = new EventEmitter();
    const req = { socket: new EventEmitter() };
    const caller = new Caller(name, req as IncomingMessage, res as ServerResponse); // what `over` listens to
    return {
      take: (kind: ListKind) => places.take(caller, kind).then(() => void begun.push(`${name} ${kind}`)),
      giveUp: () => places.giveUp(caller),
      end: () => void res.emit('close'),
      listeners: () => res.listenerCount('close') + req.socket.listenerCount('close'),
    };
  };
  return { places, begun, aRequest };
}

const settle = () => new Promise(setImmediate);

test('a page does not wait for the places of long lists', async () => {
  const { places, begun, aRequest } = aScene();
  const [busy, waiting, other] = [aRequest('busy'), aRequest('waiting'), aRequest('other')];
  await busy.take('long');
  const later = waiting.take('long');

  await other.take('page');

  expect(begun).toEqual(['busy long', 'other page']);
  busy.end();
  await later;
  for (const request of [waiting, other]) request.end();
  expect(places.length).toBe(0);
  expect([busy, waiting, other].map(({ listeners }) => listeners())).toEqual([0, 0, 0]);
});

test('a request has one place: that of a page is free while it waits for one of long lists', async () => {
  const { places, begun, aRequest } = aScene();
  const [busy, both, other] = [aRequest('busy'), aRequest('both'), aRequest('other')];
  await busy.take('long');
  await both.take('page');
  const later = both.take('long');
  await settle();

  await other.take('page');
  await busy.take('page');
  busy.end();
  await later;
  await both.take('page');

  expect(begun).toEqual(['busy long', 'both page', 'other page', 'busy page', 'both long', 'both page']);
  await both.giveUp();
  other.end();
  expect(places.length).toBe(0);
});
