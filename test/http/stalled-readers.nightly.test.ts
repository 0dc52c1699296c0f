import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AccessLog } from '../../src/http/access-log.ts';
import { createHttpServer, listen } from '../../src/http/server.ts';
import { docsPages } from '../../src/pages/docs.ts';

const NO_LOG: AccessLog = { request: () => undefined, failure: () => undefined };
const MIB = 1024 * 1024;
/** More than the kernel buffers on a loopback connection. */
const LONG = Buffer.alloc(32 * MIB, 'x');
const STALL_MS = 300;
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

type Limits = NonNullable<Parameters<typeof createHttpServer>[3]>;

async function aServer(listener: RequestListener, limits: Limits = { stallTimeout: STALL_MS }): Promise<Server> {
  const server = createHttpServer(listener, { baseUrl: 'http://localhost:3000' }, NO_LOG, limits);
  await listen(server, 0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

function aClient(server: Server, request = GET): Socket {
  // Open until it is destroyed, also after the end of the answers.
  const { port } = server.address() as AddressInfo; // listening on TCP
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(request);
  return socket;
}

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

const parts = (): Readable => Readable.from(Array.from({ length: 512 }, () => LONG.subarray(0, 64 * 1024)));

describe('a client that never reads is cut off', () => {
  test.for<[string, RequestListener]>([
    ['an answer in one piece', (_req, res) => res.end(LONG)],
    ['an answer in chunks', (_req, res) => void pipeline(parts(), res).catch(() => undefined)],
    [
      'an answer that goes on for ever',
      (_req, res) => {
        const write = () => void (res.write(LONG.subarray(0, MIB)) && setImmediate(write));
        res.on('drain', write);
        write();
      },
    ],
  ])('with %s', async ([, listener]) => {
    const closed = vi.fn<() => void>();
    const server = await aServer((req, res) => {
      res.on('close', closed);
      return listener(req, res);
    });
    aClient(server).pause();

    await expect.poll(() => closed.mock.calls.length).toBe(1);
    await expect.poll(() => connectionsOf(server)).toBe(0);
  });

  // Guarantees that input is no progress of the output.
  test.for([
    ['the letters of a second request', 'GET / HTTP/1.1\r\nX-Slow: '],
    ['whole requests', ''],
  ] as const)('also while it sends %s', async ([, start]) => {
    const limits = {
      stallTimeout: STALL_MS,
      headersTimeout: 100,
      requestTimeout: 200,
      connectionsCheckingInterval: 20,
    };
    const server = await aServer((_req, res) => res.end(LONG), limits);
    const client = aClient(server, GET + start);
    client.pause();
    const dripping = setInterval(() => client.writable && client.write(start === '' ? GET : 'x'), 10);
    onTestFinished(() => clearInterval(dripping));

    await once(server, 'connection');
    await expect.poll(() => connectionsOf(server)).toBe(0);
  });
});

// Guarantees that one byte now and then is no reason to keep a connection whose request was rejected.
test.for([
  ['headers', 'GET / HTTP/1.1\r\nX-Slow: ', 408],
  ['a body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n', 408],
  ['what is no HTTP', 'BAD\0 / HTTP/9\r\n\r\n', 400],
] as const)('a client that goes on sending %s after its answer is cut off', async ([, start, status]) => {
  const limits = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20, lingerTimeout: 100 };
  const server = await aServer(() => undefined, { ...limits, stallTimeout: 2000 });
  const client = aClient(server, start);
  let received = '';
  client.on('data', (chunk: Buffer) => (received += chunk.toString()));
  const dripping = setInterval(() => client.writable && client.write('x'), 10);
  onTestFinished(() => clearInterval(dripping));

  await expect.poll(() => received).toContain(`HTTP/1.1 ${status} `);
  await expect.poll(() => connectionsOf(server)).toBe(0);
});

// Answers that fit into the buffers of the system are no sign that somebody reads them.
describe('a client that sends requests, and reads no answer, is cut off while they wait for their turn', () => {
  /** Answers one after another, however many connections there are, each later than the one before. */
  function inTurns(everyMs: number): RequestListener {
    let turn = Promise.resolve();
    return (_req, res) => {
      turn = turn.then(() => sleep(everyMs)).then(() => void res.end('short'));
    };
  }

  test('on every one of its connections', async () => {
    const server = await aServer(inTurns(20));
    const opened = Promise.all(
      Array.from({ length: 40 }, () => once(aClient(server, GET.repeat(20)).pause(), 'connect')),
    );

    await opened;
    // All answers together take 16 s.
    await expect.poll(() => connectionsOf(server)).toBe(0);
  });

  test('and one whose requests are answered in time is not', async () => {
    const server = await aServer(inTurns(STALL_MS / 30));
    const client = aClient(server);
    let received = '';
    client.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      // Two requests more than answers: something waits all the time.
      const answers = received.match(/short/g)?.length ?? 0;
      if (answers < 100) client.write(answers === 1 ? GET + GET : GET);
    });

    await expect.poll(() => received.match(/short/g)?.length ?? 0).toBeGreaterThan(100);
  });

  test('and one that reads slowly is not', async () => {
    const server = await aServer((_req, res) => res.end(LONG), { stallTimeout: 1000 });
    const client = aClient(server, GET.repeat(2));
    let received = 0;
    const startedAt = performance.now();
    for await (const chunk of client as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (performance.now() - startedAt < 2500) await sleep(10);
      if (received > 2 * LONG.length) break;
    }

    expect(received).toBeGreaterThan(2 * LONG.length);
  });
});

test('a client that reads slowly gets the whole answer', async () => {
  const server = await aServer((_req, res) => res.end(LONG), { stallTimeout: 1000 });
  const client = aClient(server);
  let received = 0;
  const startedAt = performance.now();
  for await (const chunk of client as AsyncIterable<Buffer>) {
    received += chunk.length;
    // Longer than the time without progress, all in all.
    if (performance.now() - startedAt < 1500) await sleep(10);
    if (received > LONG.length) break;
  }

  expect(received).toBeGreaterThan(LONG.length);
});

test('a client that waits for a slow answer is not cut off', async () => {
  const server = await aServer((_req, res) => void setTimeout(() => res.end('late'), 4 * STALL_MS));
  const [answer] = (await once(aClient(server), 'data')) as [Buffer];

  expect(answer.toString()).toContain('late');
});

// Guarantees that memory does not grow with connections: the script alone has 4 MB without compression.
test('clients that do not read a script share its memory', async () => {
  const answers = new Set<unknown>();
  const app = express();
  app.use(
    (_req, res, next) => {
      const end = res.end.bind(res) as (...args: unknown[]) => typeof res;
      res.end = (...args: unknown[]) => {
        answers.add((args[0] as Buffer).buffer);
        return end(...args);
      };
      next();
    },
    docsPages({ name: 'Roster', color: '#12664f', logo: null }),
  );
  const server = await aServer(app, {});
  const { port } = server.address() as AddressInfo; // listening on TCP
  const page = await (await fetch(`http://127.0.0.1:${port}/docs`)).text();
  const [script = ''] = /\/docs\/scalar-\w+\.js/.exec(page) ?? [];
  answers.clear();

  for (let i = 0; i < 3; i++) expect((await fetch(`http://127.0.0.1:${port}${script}`)).status).toBe(200);

  expect([...answers].map((answer) => (answer as ArrayBuffer).byteLength > MIB / 2)).toEqual([true]);
});
