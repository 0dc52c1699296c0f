import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fetchClientDocument } from '../../src/oauth/client-documents.ts';
import { HOST, aServer, resolvingTo } from '../outbound/receiver.ts';

const DOCUMENT = JSON.stringify({ client_id: `https://${HOST}/client.json` });

const aDocumentServer = (type = 'application/json', body: string | Buffer = DOCUMENT) =>
  aServer((_req, res) => res.writeHead(200, { 'content-type': type }).end(body));

describe('a document', () => {
  test('comes back as a web response', async () => {
    const server = await aDocumentServer();

    const response = await fetchClientDocument(server.url, {}, server.allowed);

    expect(response).toBeInstanceOf(Response);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe(DOCUMENT);
  });

  test('is asked for by GET with nothing of ours, whatever the caller adds', async () => {
    const server = await aDocumentServer();
    const headers = { accept: 'application/json', cookie: 'a=b', authorization: 'Bearer secret', 'x-own': 'own' };

    await fetchClientDocument(server.url, { method: 'GET', headers }, server.allowed);

    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).toEqual({
      host: `${HOST}:${server.port}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'close',
    });
  });

  test.each(['application/json; charset=utf-8', 'application/jwk-set+json', 'Application/JSON'])(
    'may be %s',
    async (type) => {
      const server = await aDocumentServer(type);

      expect((await fetchClientDocument(server.url, {}, server.allowed)).status).toBe(200);
    },
  );

  test.each(['text/html', 'text/plain', 'application/jsonp', 'image/svg+xml', ''])('is not "%s"', async (type) => {
    const server = await aDocumentServer(type);

    await expect(fetchClientDocument(server.url, {}, server.allowed)).rejects.toThrow(/is not JSON/);
  });

  test('has at most 5 KB', async () => {
    const fitting = await aDocumentServer('application/json', Buffer.alloc(5120, ' '));
    const larger = await aDocumentServer('application/json', Buffer.alloc(5121, ' '));

    expect((await (await fetchClientDocument(fitting.url, {}, fitting.allowed)).bytes()).length).toBe(5120);
    await expect(fetchClientDocument(larger.url, {}, larger.allowed)).rejects.toThrow(/5120 bytes/);
  });

  test('is given up when it does not end', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const server = await aServer((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.on('drain', pour).on('close', resolve);
      pour();
      function pour() {
        while (!res.destroyed && res.write(Buffer.alloc(1024)));
      }
    });

    await expect(fetchClientDocument(server.url, {}, server.allowed)).rejects.toThrow(/5120 bytes/);
    await closed;
  });

  test('has at most 8 KB of headers', async () => {
    const server = await aServer((_req, res) =>
      res.writeHead(200, { 'content-type': 'application/json', 'x-long': 'a'.repeat(8192) }).end(DOCUMENT),
    );

    await expect(fetchClientDocument(server.url, {}, server.allowed)).rejects.toThrow(/Header overflow/);
  });

  test.each([
    ['is silent', () => undefined],
    ['trickles', (res: { write(text: string): void }) => res.write('{')],
  ])('is given up after 2.5 s where the server %s', async (_how, begin) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const server = await aServer((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      begin(res);
      res.on('close', close);
      resolve();
    });

    const settled = vi.fn<() => void>();
    const fetched = fetchClientDocument(server.url, {}, server.allowed).finally(settled);
    fetched.catch(() => undefined);
    await asked;
    await vi.advanceTimersByTimeAsync(2499);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);

    await expect(fetched).rejects.toThrow(/abort/);
    await closed;
  });

  test('is given up when the caller gives it up', async () => {
    // So that time does not run out by itself.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const caller = new AbortController();
    const server = await aServer(() => caller.abort());

    await expect(fetchClientDocument(server.url, { signal: caller.signal }, server.allowed)).rejects.toThrow(/abort/);
  });
});

describe('an answer that is no document', () => {
  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const target = await aDocumentServer();
    const server = await aServer((_req, res) => res.writeHead(status, { location: target.url }).end('elsewhere'));

    const response = await fetchClientDocument(server.url, { redirect: 'manual' }, server.allowed);

    expect(response.status).toBe(status);
    expect(response.headers.get('location')).toBe(target.url);
    expect(await response.text()).toBe('');
    expect(target.connections()).toBe(0);
  });

  test('that does not end is not waited for', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const server = await aServer((_req, res) => res.on('close', resolve).writeHead(302).write('elsewhere'));

    expect((await fetchClientDocument(server.url, {}, server.allowed)).status).toBe(302);
    await closed;
  });

  test.each([204, 304, 404, 500])('%i is an answer without a body', async (status) => {
    const server = await aServer((_req, res) => res.writeHead(status).end());

    const response = await fetchClientDocument(server.url, {}, server.allowed);

    expect([response.status, response.body]).toEqual([status, null]);
  });

  test.each([
    ['closes the connection', '', /hang up/],
    [
      'changes the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
      /without an answer/,
    ],
    ['has a status nobody knows', 'HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n', /status/],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_10.0\r\n', /Parse Error/],
  ])('is none where the server %s', async (_how, text, complaint) => {
    const server = await aServer((req) => req.socket.end(text));

    await expect(fetchClientDocument(server.url, {}, server.allowed)).rejects.toThrow(complaint);
  });
});

describe('only what can be a document is asked for', () => {
  test.each([
    ['http', `http://${HOST}/client.json`, {}],
    ['a file', 'file:///etc/passwd', {}],
    ['data', 'data:application/json,{}', {}],
    ['a URL with a password', `https://user:password@${HOST}/client.json`, {}],
    ['a change', `https://${HOST}/client.json`, { method: 'POST' }],
    ['no URL', HOST, {}],
  ])('%s is not', async (_what, url, options) => {
    const lookup = resolvingTo('127.0.0.1');

    await expect(fetchClientDocument(url, options, { lookup, allowedNetworks: ['127.0.0.1'] })).rejects.toThrow(
      TypeError,
    );

    expect(lookup.asked()).toBe(0);
  });
});
