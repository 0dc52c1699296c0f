import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type ClientRequest, type RequestListener } from 'node:http';
import { isIP, type AddressInfo, type LookupFunction } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PUBLIC_NETWORK } from '../../src/outbound/network.ts';
import { postWebhook } from '../../src/webhooks/post.ts';
import { HOST, aServer, resolvingTo } from './receiver.ts';
import { SENDERS } from './senders.ts';

/** The whole error. Users see it, and an address would tell them what internal names resolve to. */
const FORBIDDEN = /^This host does not exist, or a connection to it is not allowed\.$/;

const answer: RequestListener = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}');

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

describe.each(SENDERS)('$name', ({ send }) => {
  describe('an address that is not public is not connected to', () => {
    test.each(addresses)('%s: %s, in the URL', async (_what, address) => {
      await expect(send(`https://${inUrl(address)}/client.json`)).rejects.toThrow(FORBIDDEN);
    });

    test.each(addresses)('%s: %s, by a name', async (_what, address) => {
      const network = { lookup: resolvingTo(address), allowedNetworks: [] };

      await expect(send(`https://${HOST}/client.json`, network)).rejects.toThrow(FORBIDDEN);
      expect(network.lookup.asked()).toBe(1);
    });

    test.each(['fe80::1%eth0', '2606:4700::1111%lo', '::1%1'])('with a zone: %s', async (address) => {
      const network = { lookup: resolvingTo(address), allowedNetworks: [] };

      await expect(send(`https://${HOST}/client.json`, network)).rejects.toThrow(FORBIDDEN);
      await expect(send(`https://[${address}]/client.json`)).rejects.toThrow(/Invalid URL/);
    });

    test.each(['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '127.0.0.1.', '①②⑦.0.0.1', '[::ffff:7f00:1]'])(
      'in another spelling: %s',
      async (host) => {
        await expect(send(`https://${host}/client.json`)).rejects.toThrow(FORBIDDEN);
      },
    );

    test('by the name of this machine, as the system resolves it', async () => {
      await expect(send('https://localhost/client.json')).rejects.toThrow(FORBIDDEN);
    });

    // Guarantees that the address that was looked at is the one that is connected to, whatever a second look-up would say.
    test.each([
      ['first', ['127.0.0.1', '93.184.215.14']],
      ['last', ['93.184.215.14', '127.0.0.1']],
    ])('where one of several is not, the %s', async (_place, found) => {
      const server = await aServer(answer);
      const lookup = resolvingTo(...found);

      await expect(send(server.url, { ...server.refused, lookup })).rejects.toThrow(FORBIDDEN);

      expect(lookup.asked()).toBe(1);
      expect(server.connections()).toBe(0);
    });

    test('where a server waits there', async () => {
      const server = await aServer(answer);

      await expect(send(server.url, server.refused)).rejects.toThrow(FORBIDDEN);
      await expect(send(`https://127.0.0.1:${server.port}/`)).rejects.toThrow(FORBIDDEN);

      expect(server.connections()).toBe(0);
    });

    // Guarantees that the address that was checked is the one that is connected to: there is no second look-up.
    test('where the name leads elsewhere at each look-up', async () => {
      const server = await aServer(answer);
      const answers = ['93.184.215.14', '127.0.0.1'];
      const lookup: LookupFunction = (...question) => resolvingTo(answers.shift() ?? '127.0.0.1')(...question);
      const onRequest = (message: unknown) =>
        (message as { request: ClientRequest }).request.once('socket', (socket) =>
          socket.once('lookup', (error: Error | null) => void (error ?? socket.destroy())),
        );
      subscribe('http.client.request.created', onRequest);
      onTestFinished(() => void unsubscribe('http.client.request.created', onRequest));
      const deferred: LookupFunction = (...question) => void setImmediate(() => lookup(...question));

      await expect(send(server.url, { ...server.refused, lookup: deferred })).rejects.toThrow(/hang up|closed/);
      await expect(send(server.url, { ...server.refused, lookup: deferred })).rejects.toThrow(FORBIDDEN);

      expect(answers).toEqual([]);
      expect(server.connections()).toBe(0);
    });

    test.each([301, 302, 303, 307, 308])('by a redirect with status %i', async (status) => {
      const target = await aServer(answer);
      const server = await aServer((_req, res) => res.writeHead(status, { location: target.url }).end());

      await Promise.allSettled([send(server.url, server.allowed)]);
      expect(server.requests).toHaveLength(1);
      expect(target.connections()).toBe(0);
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
      await expect(send(`https://${HOST}/`, { lookup, allowedNetworks: [] })).rejects.toThrow(/hang up|closed/);

      expect(looked).toHaveBeenCalledExactlyOnceWith(null, address);
    });
  });

  describe('a server has to prove its name', () => {
    test('by a certificate of a trusted authority', async () => {
      const server = await aServer(answer);
      const { ca: _unknown, ...network } = server.allowed;

      await expect(send(server.url, network)).rejects.toThrow(/self-signed certificate/);

      expect(server.requests).toEqual([]);
    });

    test('by a certificate for its own name', async () => {
      const server = await aServer(answer);

      const other = `https://other.example:${server.port}/client.json`;
      await expect(send(other, server.allowed)).rejects.toThrow(/does not match/);

      expect(server.requests).toEqual([]);
    });

    test('also where the environment turns that off', async () => {
      vi.spyOn(process, 'emitWarning').mockReturnValue();
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      onTestFinished(() => void vi.unstubAllEnvs());
      const server = await aServer(answer);
      const { ca: _unknown, ...network } = server.allowed;

      await expect(send(server.url, network)).rejects.toThrow(/self-signed certificate/);
    });
  });
});

describe('an allowed network', () => {
  test.each([
    ['127.0.0.1', ['127.0.0.0/8', 'fd00::/8']],
    ['127.0.0.1', ['127.0.0.1']],
  ])('lets %s be connected to where it is one of %j', async (address, allowedNetworks) => {
    const server = await aServer(answer);
    const network = { ...server.allowed, lookup: resolvingTo(address), allowedNetworks };

    expect(await postWebhook(server.url, {}, '{}', network)).toMatchObject({ status: 200 });
  });

  test.each([
    ['10.0.0.1', ['127.0.0.0/8']],
    ['169.254.169.254', ['10.0.0.0/8']],
    ['fd00::1', ['10.0.0.0/8']],
    ['fe80::1%lo', ['fe80::/10']],
  ])('does not let %s be connected to where it is outside of %j', async (address, allowedNetworks) => {
    const network = { lookup: resolvingTo(address), allowedNetworks };

    await expect(postWebhook(`https://${HOST}/`, {}, '{}', network)).rejects.toThrow(FORBIDDEN);
  });

  test('lets loopback be reached over http, and nothing else', async () => {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // listening on TCP
    const network = { allowedNetworks: ['127.0.0.0/8', '::1', '10.0.0.0/8'] };

    expect(await postWebhook(`http://127.0.0.1:${port}/`, {}, '{}', network)).toMatchObject({ status: 200 });
    await expect(postWebhook(`http://127.0.0.1:${port}/`, {}, '{}', PUBLIC_NETWORK)).rejects.toThrow(FORBIDDEN);
    await expect(postWebhook(`http://10.0.0.1:${port}/`, {}, '{}', network)).rejects.toThrow(TypeError);
    await expect(postWebhook(`http://${HOST}:${port}/`, {}, '{}', network)).rejects.toThrow(TypeError);
  });
});
