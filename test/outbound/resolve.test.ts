import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { resolveName } from '../../src/outbound/resolve.ts';
import { postWebhook } from '../../src/webhooks/post.ts';
import { aNameServer } from './name-server.ts';
import { aServer, HOST } from './receiver.ts';

const LOOPBACK = [127, 0, 0, 1];
const PUBLIC = [93, 184, 215, 14];
const never = new AbortController().signal;

/** A receiver that a name server of the test leads to. */
async function aNamedServer(answer: Parameters<typeof aNameServer>[0]) {
  const names = await aNameServer(answer);
  const server = await aServer((_req, res) => res.end('{}'));
  const { ca } = server.allowed;
  return { ...server, names, network: { ca, names: { servers: [names.server] }, allowedNetworks: ['127.0.0.1'] } };
}

describe('a name server that never answers', () => {
  test('delays no other look-up of the process, however many wait for it', async () => {
    const { url, network, names } = await aNamedServer(() => 'silence');
    const stop = new AbortController();
    const settled = vi.fn<() => void>();
    const posts = Array.from({ length: 50 }, async () =>
      postWebhook(url, {}, '{}', network, stop.signal).finally(settled),
    );
    const outcomes = Promise.allSettled(posts);
    await expect.poll(() => names.questions.length).toBeGreaterThanOrEqual(100);

    // By the threads of the process, as the database and the mail server are looked up.
    expect((await lookup('localhost')).address).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(settled).not.toHaveBeenCalled();

    stop.abort();
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });

  test('is given up after 5 s, and the try says so', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, network, names } = await aNamedServer(() => 'silence');
    const posted = postWebhook(url, {}, '{}', network);
    const outcome = expect(posted).rejects.toThrow(`${HOST} was not resolved within 5000 ms.`);
    await expect.poll(() => names.questions.length).toBeGreaterThanOrEqual(2);

    await vi.advanceTimersByTimeAsync(5000);
    await outcome;
  });

  test('is asked no more once the request has ended', async () => {
    const { url, network, names } = await aNamedServer(() => 'silence');
    const stop = new AbortController();
    const posted = postWebhook(url, {}, '{}', network, stop.signal);
    const outcome = expect(posted).rejects.toThrow(/abort/);
    await expect.poll(() => names.questions).toHaveLength(2);
    stop.abort();
    await outcome;

    await expect(resolveName(HOST, stop.signal, network.names)).rejects.toThrow(/abort/);
    expect(names.questions).toHaveLength(2);
  });

  test('for one version of addresses is not waited for where there is one of the other', async () => {
    const { url, network } = await aNamedServer(({ type }) => (type === 'A' ? LOOPBACK : 'silence'));

    expect(await postWebhook(url, {}, '{}', network)).toMatchObject({ status: 200 });
  });
});

describe('a name', () => {
  test('has the addresses of both versions', async () => {
    const v6 = Array.from({ length: 16 }, (_, i) => (i === 15 ? 1 : 0));
    const { names } = await aNamedServer(({ type }) => (type === 'A' ? LOOPBACK : v6));

    expect(await resolveName('a.example', never, { servers: [names.server] })).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  });

  // Guarantees that nobody finds out by a webhook which internal names there are.
  test.each([
    ['that does not exist', 'no name'],
    ['without an address', 'no address'],
    ['with a private address', [10, 0, 0, 1]],
  ] as const)('%s gets the same error', async (_what, answer) => {
    const { url, network } = await aNamedServer(({ type }) =>
      type === 'A' || answer === 'no name' ? answer : 'no address',
    );

    await expect(postWebhook(url, {}, '{}', network)).rejects.toThrow(
      /^This host does not exist, or a connection to it is not allowed\.$/,
    );
  });

  // Guarantees that a name that leads elsewhere after it was checked leads nowhere.
  test('that leads to a private address at the next look-up is not connected to', async () => {
    const addresses = [PUBLIC, LOOPBACK];
    const receiver = await aNamedServer(({ type }) => (type === 'A' ? (addresses.shift() ?? LOOPBACK) : 'no address'));
    const network = { ...receiver.network, allowedNetworks: [] };
    const names = await resolveName(HOST, never, network.names);
    expect(names).toEqual([{ address: PUBLIC.join('.'), family: 4 }]);

    await expect(postWebhook(receiver.url, {}, '{}', network)).rejects.toThrow(/not allowed/);

    expect(receiver.connections()).toBe(0);
    expect(receiver.names.questions.filter(({ type }) => type === 'A')).toHaveLength(2);
  });

  test('in the hosts file is not asked for, and is checked like any other', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'roster-hosts-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const hostsFile = join(dir, 'hosts');
    writeFileSync(hostsFile, `# names\n127.0.0.1\tCLIENT.example other # a receiver\nwrong ${HOST}\n::1 six\n`);
    const { url, network, names, connections } = await aNamedServer(() => 'no name');
    const known = { ...network, names: { ...network.names, hostsFile } };

    expect(await postWebhook(url, {}, '{}', known)).toMatchObject({ status: 200 });
    await expect(postWebhook(url, {}, '{}', { ...known, allowedNetworks: [] })).rejects.toThrow(/not allowed/);

    expect(connections()).toBe(1);
    expect(names.questions).toEqual([]);
    expect(await resolveName('six.', never, known.names)).toEqual([{ address: '::1', family: 6 }]);
  });

  test.each(['localhost', 'a.localhost', 'LOCALHOST.'])('%s is this machine', async (name) => {
    const { names } = await aNamedServer(() => PUBLIC);

    const found = await resolveName(name, never, { servers: [names.server] });

    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ address }) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
    expect(names.questions).toEqual([]);
  });
});
