import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AccessLog } from '../../src/http/access-log.ts';
import { createHttpServer, listen } from '../../src/http/server.ts';

const BASE_URL = 'http://localhost:3000';
const NO_LOG: AccessLog = { request: () => undefined, failure: () => undefined };
const HEAD = 'POST /api/v1/teams HTTP/1.1\r\nHost: localhost\r\n';

/** A server that reads whole bodies, with limits that tests can wait for. */
async function aServer(): Promise<Server> {
  const limits = { headersTimeout: 60, requestTimeout: 120, keepAliveTimeout: 30, connectionsCheckingInterval: 10 };
  const server = createHttpServer(
    (req, res) => req.resume().on('end', () => res.end('read')),
    { baseUrl: BASE_URL },
    NO_LOG,
    limits,
  );
  server.keepAliveTimeoutBuffer = 0;
  await listen(server, 0, '127.0.0.1');
  onTestFinished(() => void server.close());
  return server;
}

/** What a server says until it closes the connection, to a client that sends a first part and then drop by drop. */
async function heardBy(server: Server, first: string, drop = ''): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // listening on TCP
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk.toString()));
  // Writing into a connection that is being closed fails, which is what these clients meet.
  socket.on('error', () => undefined);
  socket.write(first);
  const dripping = drop === '' ? undefined : setInterval(() => socket.writable && socket.write(drop), 5);
  await once(socket, 'close');
  clearInterval(dripping);
  return heard;
}

describe('a client that is slow on purpose is cut off with a problem document', () => {
  test.for([
    ['says nothing', '', ''],
    ['stops in the request line', 'GET /api/v1/te', ''],
    ['stops in the headers', `${HEAD}X-Slow: `, ''],
    ['sends a header at a time', HEAD, 'X-Slow: x\r\n'],
    ['sends a letter at a time', `${HEAD}X-Slow: `, 'x'],
    ['never sends the body', `${HEAD}Content-Length: 10\r\n\r\n`, ''],
    ['sends a byte of the body at a time', `${HEAD}Content-Length: 10000\r\n\r\n`, 'x'],
    ['sends chunks without end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'],
    ['stops in a chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\nff\r\nx`, ''],
  ] as const)('%s', async ([, first, drop]) => {
    const heard = await heardBy(await aServer(), first, drop);

    expect(heard).toMatch(/^HTTP\/1\.1 408 /);
    expect(heard).toMatch(/\r\nConnection: close\r\n/);
    expect(heard).toMatch(/\r\nX-Request-Id: [\w-]{36}\r\n/);
    expect(heard).toContain('"code":"request_timeout"');
  });

  test('that sends nothing more after an answer is let go without a word', async () => {
    const heard = await heardBy(await aServer(), 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');

    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});

test('the service has a time for headers, for a whole request, and for a connection that rests', () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxRequestsPerSocket } = createHttpServer(
    () => undefined,
    { baseUrl: BASE_URL },
    NO_LOG,
  );

  expect({ headersTimeout, requestTimeout, keepAliveTimeout, maxRequestsPerSocket }).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    // A connection costs what its requests cost, and those are limited.
    maxRequestsPerSocket: 0,
  });
});

// Guarantees that a body takes the memory of its bytes, and not that of an object for each of them.
describe.each([
  ['the REST interfaces', (listener: RequestListener): RequestListener => listener],
  ['Express', (listener: RequestListener): RequestListener => express().use(listener)],
])('a body in chunks, read by %s,', (_reader, wrap) => {
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  /** The pieces in which a body arrives at the application. */
  async function piecesOf(chunks: readonly string[]): Promise<Buffer[]> {
    const pieces: Buffer[] = [];
    const server = createHttpServer(
      wrap((req, res) => req.on('data', (piece: Buffer) => pieces.push(piece)).on('end', () => res.end('read'))),
      { baseUrl: BASE_URL },
      NO_LOG,
    );
    await listen(server, 0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // listening on TCP
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks.map(chunk).join('')}0\r\n\r\n`);
    await once(socket, 'data');
    return pieces;
  }

  test.for([1, 7, 1000, 4095, 4096, 4097, 10_000])(
    'of %i bytes is whole, in pieces of about 4 KiB or more',
    async (size) => {
      const body = Array.from({ length: 100_000 / size }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(size));

      const pieces = await piecesOf(body);

      expect(Buffer.concat(pieces).toString()).toBe(body.join(''));
      // Those on a busy machine that come after a second pass on what is there.
      expect(pieces.length).toBeLessThan(100);
    },
  );

  test('of all sizes is whole', async () => {
    const body = Array.from({ length: 500 }, (_, i) => 'x'.repeat(1 + ((i * 7919) % 6000)));

    expect(Buffer.concat(await piecesOf(body)).toString()).toBe(body.join(''));
  });
});
