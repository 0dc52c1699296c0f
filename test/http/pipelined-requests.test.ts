import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AccessLog } from '../../src/http/access-log.ts';
import { createHttpServer, listen } from '../../src/http/server.ts';

const NO_LOG: AccessLog = { request: () => undefined, failure: () => undefined };

async function aServer(listener: RequestListener): Promise<Server> {
  const server = createHttpServer(listener, { baseUrl: 'http://localhost:3000' }, NO_LOG);
  await listen(server, 0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** Sends requests at once on one connection. */
function sendAll(server: Server, requests: readonly string[]): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // listening on TCP
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).write(requests.join(''));
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const paths = (count: number) => Array.from({ length: count }, (_, i) => `/${i}`);

/** What a client receives until it ends with a text. */
async function receivedBy(socket: Socket, end: string): Promise<string> {
  let received = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received += chunk.toString();
    if (received.endsWith(end)) break;
  }
  return received;
}

// Guarantees that a client gets no more than its share by sending requests without waiting for answers.
test('the requests of one connection are handled one after another, with their bodies, in order', async () => {
  let atWork = 0;
  let most = 0;
  const server = await aServer((req, res) => {
    atWork += 1;
    most = Math.max(most, atWork);
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () =>
      setImmediate(() => {
        atWork -= 1;
        res.end(`<${req.url}:${body}>`);
      }),
    );
  });
  const all = paths(200);

  const received = await receivedBy(
    sendAll(
      server,
      all.map((path, i) => (i % 2 === 0 ? get(path) : post(path, `body ${i}`))),
    ),
    '</199:body 199>',
  );

  expect(received.match(/<[^>]+>/g)).toEqual(all.map((path, i) => `<${path}:${i % 2 === 0 ? '' : `body ${i}`}>`));
  expect(most).toBe(1);
});

test('a request that waits does not run as the one before it', async () => {
  const running = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const server = await aServer((req, res) => {
    seen.push(running.getStore());
    running.run(req.url ?? '', () => setImmediate(() => res.end('.')));
  });

  sendAll(server, paths(3).map(get)).resume();
  await expect.poll(() => seen.length).toBe(3);

  expect(seen).toEqual([undefined, undefined, undefined]);
});

test('those that wait are not handled when the client has gone', async () => {
  const handled: string[] = [];
  const first = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = await aServer((req, res) => {
    handled.push(req.url ?? '');
    res.once('close', closed.resolve);
    first.resolve();
  });
  const socket = sendAll(server, paths(5).map(get));
  await first.promise;

  socket.destroy();
  await closed.promise;
  await new Promise(setImmediate);

  expect(handled).toEqual(['/0']);
});

test('a client that sends thousands behind one that takes long is disconnected', async () => {
  const server = await aServer(() => undefined);
  const closed = vi.fn<() => void>();
  sendAll(server, paths(3000).map(get)).on('close', closed).resume();

  await expect.poll(() => closed.mock.calls.length).toBe(1);
});

// Guarantees that a flood of connections that are reset costs others no more than reading its requests.
test('a request whose connection is reset right after it is not handled, and one whose connection stays is', async () => {
  const handled: (string | undefined)[] = [];
  const server = await aServer((req, res) => {
    handled.push(req.url);
    res.end('done');
  });
  let received = 0;
  server.prependListener('request', () => (received += 1));
  const count = 50;
  for (const path of paths(count)) {
    const socket = sendAll(server, []);
    socket.write(get(path), () => socket.resetAndDestroy());
  }
  await expect.poll(() => received).toBe(count);

  expect(await receivedBy(sendAll(server, [get('/stays')]), 'done')).toContain('200 OK');
  expect(handled).toEqual(['/stays']);
});
