import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import type { ClientRequest, IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { isIP, type AddressInfo, type LookupFunction } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fetchClientDocument } from '../../src/oauth/client-documents.ts';
import { aCertificate } from '../support/certificate.ts';

const HOST = 'client.example';
const DOCUMENT = JSON.stringify({ client_id: `https://${HOST}/client.json` });

const certificate = aCertificate(HOST);

/** A resolver to which every name has the same addresses, and which counts what it is asked. */
function resolvingTo(...found: string[]): LookupFunction & { asked: () => number } {
  let count = 0;
  const lookup: LookupFunction = (_hostname, options, callback) => {
    count += 1;
    const addresses = found.map((address): LookupAddress => ({ address, family: isIP(address) }));
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
  return Object.assign(lookup, { asked: () => count });
}

/** An https server on this machine that answers as told, and what a caller needs to be let through to it. */
async function aServer(listener: RequestListener) {
  let connections = 0;
  const requests: { url: string | undefined; headers: IncomingHttpHeaders; authority: string }[] = [];
  const server = createServer(certificate, (req, res) => {
    requests.push({ url: req.url, headers: req.headers, authority: req.headers.host ?? '' });
    listener(req, res);
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  const lookup = resolvingTo('127.0.0.1');
  return {
    url: `https://${HOST}:${port}/client.json`,
    port,
    requests,
    connections: () => connections,
    allowed: { lookup, ca: certificate.cert, allowedAddresses: ['127.0.0.1'] },
    refused: { lookup, ca: certificate.cert, allowedAddresses: [] },
  };
}

const aDocumentServer = (type = 'application/json', body: string | Buffer = DOCUMENT) =>
  aServer((_req, res) => res.writeHead(200, { 'content-type': type }).end(body));

/** What must never be connected to, with what finds it there. */
const BLOCKED: Readonly<Record<string, readonly string[]>> = {
  'this machine': ['127.0.0.1', '127.255.255.254', '::1'],
  'any address of this machine': ['0.0.0.0', '0.1.2.3', '::'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'link-local addresses': ['169.254.0.1', 'fe80::1', 'febf::1'],
  'metadata services': ['169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001::1', '2001:1ff::1'],
  'unique-local addresses': ['fc00::1', 'fdff::1'],
  'site-local addresses': ['fec0::1'],
  'IPv4 in IPv6': ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::7f00:1', '::a00:1', '::ffff:0:7f00:1'],
  'IPv4 behind a translator': ['64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2002:a00:1::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarks: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'relays and segments': ['192.88.99.1', '5f00::1'],
  nobody: ['100::1', '100:0:0:1::1', '4000::1', '240.0.0.1', '255.255.255.255'],
  groups: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
};
const addresses = Object.entries(BLOCKED).flatMap(([what, list]) => list.map((address) => [what, address] as const));

const inUrl = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);

describe('an address that is not public is not connected to', () => {
  test.each(addresses)('%s: %s, in the URL', async (_what, address) => {
    await expect(fetchClientDocument(`https://${inUrl(address)}/client.json`)).rejects.toThrow(/not allowed/);
  });

  test.each(addresses)('%s: %s, by a name', async (_what, address) => {
    const network = { lookup: resolvingTo(address), allowedAddresses: [] };

    await expect(fetchClientDocument(`https://${HOST}/client.json`, {}, network)).rejects.toThrow(/not allowed/);
    expect(network.lookup.asked()).toBe(1);
  });

  test.each(['fe80::1%eth0', '2606:4700::1111%lo', '::1%1'])('with a zone: %s', async (address) => {
    const network = { lookup: resolvingTo(address), allowedAddresses: [] };

    await expect(fetchClientDocument(`https://${HOST}/client.json`, {}, network)).rejects.toThrow(/not allowed/);
    await expect(fetchClientDocument(`https://[${address}]/client.json`)).rejects.toThrow(/Invalid URL/);
  });

  test.each(['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '127.0.0.1.', '①②⑦.0.0.1', '[::ffff:7f00:1]'])(
    'in another spelling: %s',
    async (host) => {
      await expect(fetchClientDocument(`https://${host}/client.json`)).rejects.toThrow(/not allowed/);
    },
  );

  test('by the name of this machine, as the system resolves it', async () => {
    await expect(fetchClientDocument('https://localhost/client.json')).rejects.toThrow(/not allowed/);
  });

  // Guarantees that the address that was looked at is the one that is connected to, whatever a second look-up would say.
  test.each([
    ['first', ['127.0.0.1', '93.184.215.14']],
    ['last', ['93.184.215.14', '127.0.0.1']],
  ])('where one of several is not, the %s', async (_place, found) => {
    const server = await aDocumentServer();
    const lookup = resolvingTo(...found);

    await expect(fetchClientDocument(server.url, {}, { ...server.refused, lookup })).rejects.toThrow(/not allowed/);

    expect(lookup.asked()).toBe(1);
    expect(server.connections()).toBe(0);
  });

  test('where a server waits there', async () => {
    const server = await aDocumentServer();

    await expect(fetchClientDocument(server.url, {}, server.refused)).rejects.toThrow(/not allowed/);
    await expect(fetchClientDocument(`https://127.0.0.1:${server.port}/`)).rejects.toThrow(/not allowed/);

    expect(server.connections()).toBe(0);
  });
});

describe('a public address is connected to', () => {
  test.each(['93.184.215.14', '2606:4700::1111', '2001:200::1'])('%s', async (address) => {
    const looked = vi.fn<(error: Error | null, address: string) => void>();
    // Nothing leaves this machine: the socket ends when it has its address, before it connects.
    const onRequest = (message: unknown) =>
      (message as { request: ClientRequest }).request.once('socket', (socket) =>
        socket.once('lookup', (error, found) => {
          looked(error, found);
          socket.destroy();
        }),
      );
    subscribe('http.client.request.created', onRequest);
    onTestFinished(() => void unsubscribe('http.client.request.created', onRequest));

    const lookup: LookupFunction = (...question) => void setImmediate(() => resolvingTo(address)(...question));
    await expect(fetchClientDocument(`https://${HOST}/`, {}, { lookup, allowedAddresses: [] })).rejects.toThrow(
      /hang up|closed/,
    );

    expect(looked).toHaveBeenCalledExactlyOnceWith(null, address);
  });
});

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

describe('a server has to prove its name', () => {
  test('by a certificate that somebody known has signed', async () => {
    const server = await aDocumentServer();
    const { ca: _unknown, ...network } = server.allowed;

    await expect(fetchClientDocument(server.url, {}, network)).rejects.toThrow(/self-signed certificate/);

    expect(server.requests).toEqual([]);
  });

  test('by a certificate for its own name', async () => {
    const server = await aDocumentServer();

    const other = `https://other.example:${server.port}/client.json`;
    await expect(fetchClientDocument(other, {}, server.allowed)).rejects.toThrow(/does not match/);

    expect(server.requests).toEqual([]);
  });

  test('also where the environment turns that off', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await aDocumentServer();
    const { ca: _unknown, ...network } = server.allowed;

    await expect(fetchClientDocument(server.url, {}, network)).rejects.toThrow(/self-signed certificate/);
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

    await expect(fetchClientDocument(url, options, { lookup, allowedAddresses: ['127.0.0.1'] })).rejects.toThrow(
      TypeError,
    );

    expect(lookup.asked()).toBe(0);
  });
});
