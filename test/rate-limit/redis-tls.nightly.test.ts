import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../cli/roster.ts';
import { redisServer } from '../../src/config/redis-url.ts';
import { createLimiter } from '../../src/rate-limit/limiter.ts';
import { createAuthority } from '../support/certificate-authority.ts';
import { hasRedis, redisCli, startRedis, type TestRedis } from '../support/redis.ts';

const authority = createAuthority();
const stranger = createAuthority();
const server = authority.issue('redis', 'DNS:localhost', 'IP:127.0.0.1');
const client = authority.issue('roster');

afterAll(() => {
  authority.remove();
  stranger.remove();
});

/** A Redis that accepts TLS with a client certificate only. */
async function aTlsRedis(): Promise<number> {
  const port = await freePort();
  const files = ['--tls-cert-file', server.cert, '--tls-key-file', server.key, '--tls-ca-cert-file', authority.cert];
  const redis = await startRedis({ args: ['--tls-port', `${port}`, ...files, '--tls-auth-clients', 'yes'] });
  onTestFinished(() => redis.stop());
  return port;
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
  });
  return promise;
}

const pem = (file: string) => readFileSync(file, 'utf8');
const redisTls = { ca: pem(authority.cert), cert: pem(client.cert), key: pem(client.key) };

function aLimiter(redisUrl: string, outages: string[] = []) {
  const limiter = createLimiter({
    redis: redisServer(redisUrl, redisTls),
    limit: 5,
    windowSeconds: 60,
    onFallback: (error) => outages.push(String(error)),
    onRecovery: () => outages.push('recovery'),
  });
  onTestFinished(() => limiter.close());
  return limiter;
}

describe.skipIf(!hasRedis)('with a Redis that accepts TLS with a client certificate only', () => {
  test('limiters count together', async () => {
    const url = `rediss://localhost:${await aTlsRedis()}`;
    const limiters = [aLimiter(url), aLimiter(url)] as const;
    await expect.poll(() => Promise.all(limiters.map((limiter) => limiter.isShared()))).toEqual([true, true]);

    const decisions = await Promise.all(
      Array.from({ length: 12 }, (_, index) => limiters[index % 2 ? 1 : 0].consume('a')),
    );

    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
  });

  test('`roster doctor` passes with REDIS_CA, REDIS_CERT and REDIS_KEY, and says what is wrong without', async () => {
    const REDIS_URL = `rediss://localhost:${await aTlsRedis()}`;
    const DATABASE_URL = 'postgres://127.0.0.1:1/none';
    const check = async (files: Record<string, string>) => {
      const { stdout } = await run({ REDIS_URL, DATABASE_URL, SECRET_KEYS: 'k'.repeat(40), ...files }, ['doctor']);
      return stdout.split('\n').find((line) => /redis|configuration/i.test(line) && !line.includes('all variables'));
    };
    const own = { REDIS_CERT: client.cert, REDIS_KEY: client.key };

    expect(await check({ REDIS_CA: authority.cert, ...own })).toMatch(/^ok +redis +reachable/);
    expect(await check({ REDIS_CA: stranger.cert, ...own })).toMatch(/^FAILED +redis .*certificate/);
    expect(await check({ REDIS_CA: authority.cert })).toMatch(
      /^FAILED +redis +REDIS_URL: Redis ended the TLS connection \(.+\): it requires a client certificate that it trusts/,
    );
    expect(await check({ REDIS_URL: REDIS_URL.replace('rediss', 'redis') })).toMatch(
      /^FAILED +redis +REDIS_URL: Redis ended the connection \(.+\): if it requires TLS, use rediss:/,
    );
    expect(await check({ REDIS_URL: REDIS_URL.replace('rediss', 'redis'), REDIS_CA: authority.cert })).toContain(
      'REDIS_CA: requires a REDIS_URL with TLS: use rediss://',
    );
    const plain = await startRedis();
    onTestFinished(() => plain.stop());
    expect(await check({ REDIS_URL: plain.url.replace('redis:', 'rediss:') })).toMatch(
      /^FAILED +redis +REDIS_URL: .*accepts? TLS at this port/,
    );
    expect(await check({ REDIS_CA: '/no/such/file', ...own })).toContain('REDIS_CA: /no/such/file does not exist');
    expect(await check({ REDIS_CERT: client.cert })).toContain('REDIS_KEY: must be set together with REDIS_CERT');
  });
});

describe.skipIf(!hasRedis)('with Redis behind three Sentinels', () => {
  test('limits continue at the new primary after the old one was killed', async () => {
    const primary = await startRedis();
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', `${primary.port}`] });
    const sentinels = await Promise.all([1, 2, 3].map(() => aSentinel(primary)));
    onTestFinished(async () => {
      await Promise.all([primary, replica, ...sentinels].map((redis) => redis.stop()));
    });
    await expect.poll(() => redisCli(replica.port, 'INFO', 'replication')).toContain('master_link_status:up');
    for (const { port } of sentinels) {
      await expect
        .poll(() => redisCli(port, 'SENTINEL', 'MASTER', 'main'))
        .toMatch(/num-slaves\n1\n[^]*num-other-sentinels\n2\n/);
    }
    const outages: string[] = [];
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const limiters = [
      aLimiter(`redis+sentinel://${hosts}/main/0`, outages),
      aLimiter(`redis+sentinel://${hosts}/main`),
    ] as const;
    await expect.poll(() => limiters[0].isShared()).toBe(true);
    for (let used = 0; used < 3; used += 1) await limiters[0].consume('kept');
    expect((await limiters[1].peek('kept')).remaining).toBe(2);

    primary.kill('SIGKILL');
    const during = await limiters[0].consume('kept');
    await expect.poll(() => outages).toContain('recovery');
    const decisions = [await limiters[0].consume('kept'), await limiters[0].consume('kept')];

    expect([during, ...decisions].map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(redisCli(replica.port, 'ROLE')).toMatch(/^master/);
    expect(redisCli(replica.port, 'KEYS', '*')).toContain('kept');
  });
});

const aSentinel = ({ port }: TestRedis): Promise<TestRedis> =>
  startRedis({
    sentinel: [`monitor main 127.0.0.1 ${port} 2`, 'down-after-milliseconds main 500', 'failover-timeout main 1000'],
  });
