import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import PostalMime from 'postal-mime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { startApi } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { launchService, startService, type Service } from '../support/service.ts';
import { aDataDir, aService, BOUND, clientOf, demoSecret, ended } from './services.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

async function aTakenPort(): Promise<number> {
  const server: Server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port; // listening on TCP
}

describe('the first start', () => {
  // Guarantees that replicas on one machine, and a second terminal, need no settings but a port.
  test('of two services that start concurrently on one empty DATA_DIR gives both the same database', async () => {
    const dataDir = aDataDir();
    const [one, two] = await Promise.all([aService(dataDir), aService(dataDir)]);
    const demo = () => [one, two].filter(({ lines }) => lines.some((line) => line.includes('all scopes')));
    await expect.poll(() => demo().length, BOUND).toBe(1);
    const secret = demoSecret(demo()[0] ?? one);

    const made = await clientOf(one).as(secret).post('/api/v1/teams', { name: 'Made by one' });
    const seen = await clientOf(two).as(secret).get(`/api/v1/teams/${made.body.id}`);

    expect([made.status, seen.status]).toEqual([201, 200]);
    await ended(one, 'SIGKILL');
    expect((await clientOf(two).as(secret).post('/api/v1/teams', { name: 'Made by two' })).status).toBe(201);
    expect(demo()).toHaveLength(1);
    expect([one.complaint(), two.complaint()]).toEqual(['', '']);
  });
});

describe('a first start that cannot listen', () => {
  // Guarantees that the keys, which cannot be shown again, are not lost with it.
  test('has printed its demo keys, and they work at the next start', async () => {
    const dataDir = aDataDir();
    const first = launchService({ dataDir, env: { PORT: String(await aTakenPort()) } });
    expect((await first.exited).code).toBe(1);
    const [, secret = ''] = /all scopes\s+(rst_pk_\w+)/.exec(first.lines.join('\n')) ?? [];

    const second = await aService(dataDir);

    expect((await clientOf(second).as(secret).get('/api/v1/credential')).status).toBe(200);
  });
});

describe('SIGTERM while the demo data are created', () => {
  test('ends the service once their password is printed', async () => {
    const dataDir = aDataDir();
    await ended(await aService(dataDir, { SEED_DEMO: 'off' }), 'SIGTERM');
    const embedded = await startEmbedded({ dataDir });
    onTestFinished(() => embedded.close());
    const [holder, watcher] = [new pg.Client(embedded.url), new pg.Client(embedded.url)];
    for (const client of [holder, watcher]) {
      await client.connect();
      onTestFinished(() => client.end());
    }
    // The commit waits for the lock.
    await watcher.query(`
      create function hold() returns trigger language plpgsql set lock_timeout = 0 as
        $$ begin perform pg_advisory_xact_lock_shared(37); return null; end $$;
      create constraint trigger hold after insert on account deferrable initially deferred
        for each row execute function hold()`);
    await holder.query('select pg_advisory_lock(37)');
    const service = launchService({ dataDir, env: { PORT: String(await freePort()) } });
    const waiting = () =>
      watcher.query(`select from pg_locks where locktype = 'advisory' and objid = 37 and not granted`);
    await expect.poll(async () => (await waiting()).rowCount, BOUND).toBe(1);

    service.kill('SIGTERM');
    await holder.query('select pg_advisory_unlock(37)');

    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.complaint()).toBe('');
    const [, password = ''] = /password\W+(\S+)/i.exec(service.lines.join('\n')) ?? [];
    const second = await aService(dataDir);
    expect(second.lines.filter((line) => line.includes('Demo data'))).toEqual([]);
    const answer = await fetch(`${second.url}/trpc/auth.signIn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: `http://localhost:${second.port}` },
      body: JSON.stringify({ email: 'owner@example.com', password }),
    });
    expect(answer.status).toBe(200);
  });
});

describe('SIGKILL', () => {
  test('right after an invitation, with the mail server down, loses no email', async () => {
    const dataDir = aDataDir();
    const first = await aService(dataDir, { SMTP_URL: `smtp://127.0.0.1:${await freePort()}` });
    await expect.poll(() => first.lines.some((line) => line.includes('all scopes')), BOUND).toBe(true);
    const caller = clientOf(first).as(demoSecret(first));
    const { body: teams } = await caller.get('/api/v1/teams');
    const [team] = teams as { id: string; role: { id: string } }[];

    const { status } = await caller.post(`/api/v1/teams/${team?.id}/invitations`, {
      email: 'new.colleague@example.com',
    });
    await ended(first, 'SIGKILL');
    const second = await aService(dataDir);

    expect(status).toBe(201);
    const directory = join(dataDir, 'mail');
    const invitations = async () => {
      const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.eml')) : [];
      const mails = await Promise.all(files.map((name) => PostalMime.parse(readFileSync(join(directory, name)))));
      return mails.filter(({ to }) => to?.[0]?.address === 'new.colleague@example.com');
    };
    await expect.poll(async () => (await invitations()).length, { interval: 20 }).toBe(1);
    const mail = (await invitations())[0] ?? expect.unreachable();
    expect(mail.to).toEqual([{ name: '', address: 'new.colleague@example.com' }]);
    expect(mail.from?.address).toBe('roster@localhost');
    expect(mail.subject).toContain('Invitation');
    expect(mail.messageId).toBeTruthy();
    expect(mail.text).toContain(`http://localhost:${second.port}/invitation?token=rst_inv_`);
    expect(mail.html).toContain('rst_inv_');
  });
});

describe('SIGTERM', () => {
  test('drains, finishes what runs, writes lastUsedAt and exits with 0 in time', async () => {
    const database = await startApi();
    onTestFinished(() => database.close());
    const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read', 'teams:write'] });
    const env = { DATABASE_URL: database.databaseUrl, SECRET_KEYS, DRAIN_SECONDS: '1' };
    const service = await aService(aDataDir(), env);
    const client = clientOf(service);
    const before = await client.as(key).get('/api/v1/teams');
    const late = await aSlowCreateTeam(service, key.secret);

    service.kill('SIGTERM');
    const stoppedAt = performance.now();
    await expect.poll(async () => (await client.anonymous.get('/readyz')).status, BOUND).toBe(503);
    const during = [
      await client.as(key).get('/api/v1/teams'),
      await client.as(key).post('/api/v1/teams', { name: 'Drained' }),
    ];
    const health = await client.anonymous.get('/healthz');
    await expect.poll(() => isListening(service.port), BOUND).toBe(false);
    const drainedAfter = performance.now() - stoppedAt;
    const finished = await late.finish();
    const exit = await service.exited;

    expect(before.headers.connection).not.toBe('close');
    expect([...during, health].map(({ status, headers }) => [status, headers.connection])).toEqual([
      [200, 'close'],
      [201, 'close'],
      [200, 'close'],
    ]);
    expect(drainedAfter).toBeGreaterThan(990);
    expect(finished).toMatchObject({ status: 201, body: { name: 'Slowly sent' } });
    expect(exit).toEqual({ code: 0, signal: null });
    expect(service.complaint()).toBe('');
    const [row] = await database.rows<{ last_used_at: string | null }>(
      'select last_used_at from api_key where id = $1',
      [key.id],
    );
    expect(Date.now() - Date.parse(row?.last_used_at ?? '')).toBeLessThan(120_000);
  });

  test('and SIGINT, with idle connections and a request that never ends, still exit with 0 in time', async () => {
    const database = await startApi();
    onTestFinished(() => database.close());
    const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read', 'teams:write'] });
    const service = await aService(aDataDir(), { DATABASE_URL: database.databaseUrl, SECRET_KEYS });
    const client = clientOf(service);
    await Promise.all([1, 2, 3].map(() => client.as(key).get('/api/v1/teams')));
    await aSlowCreateTeam(service, key.secret);

    service.kill('SIGINT');
    service.kill('SIGTERM');

    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  test('and SIGHUP, as from a terminal that is closed, ends it gracefully', async () => {
    const database = await startApi();
    onTestFinished(() => database.close());
    const service = await aService(aDataDir(), { DATABASE_URL: database.databaseUrl, SECRET_KEYS });

    expect(await ended(service, 'SIGHUP')).toEqual({ code: 0, signal: null });
    expect(service.lines.at(-2)).toContain('"signal":"SIGHUP"');
    expect(service.lines.at(-1)).toContain('"msg":"stopped"');
  });

  test.skipIf(process.platform === 'win32')('and the SIGKILL of its wrapper ends it gracefully', async () => {
    const database = await startApi();
    onTestFinished(() => database.close());
    const env = { DATABASE_URL: database.databaseUrl, SECRET_KEYS };
    const wrapped = await startService({ dataDir: aDataDir(), env, isWrapped: true });

    // Resolves when the service has closed its output, too.
    expect(await ended(wrapped, 'SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    expect(wrapped.lines.at(-1)).toContain('"msg":"stopped"');
  });

  /** A createTeam of which all but the end has arrived. */
  async function aSlowCreateTeam({ port }: Service, secret: string) {
    const agent = new Agent({ keepAlive: false });
    onTestFinished(() => agent.destroy());
    const body = JSON.stringify({ name: 'Slowly sent' });
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    };
    const req = request({ host: '127.0.0.1', port, agent, method: 'POST', path: '/api/v1/teams', headers });
    const answered = once(req, 'response') as Promise<[IncomingMessage]>; // what the event carries
    answered.catch(() => undefined);
    req.flushHeaders();
    await once(req, 'continue');
    req.write(body.slice(0, 5));
    return {
      async finish() {
        req.end(body.slice(5));
        const [res] = await answered;
        return { status: res.statusCode, body: JSON.parse(await text(res)) as { name: string } };
      },
    };
  }
});

async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const req = request({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (res) => {
      res.resume();
      resolve(true);
    });
    req.on('error', () => resolve(false)).end();
  });
}

describe('a wrong configuration', () => {
  // Guarantees that an operator reads what to change, instead of a stack.
  test('stops the start with exit code 1 and one line on stderr that names the variable', async () => {
    const dataDir = aDataDir();
    const plans = join(dataDir, 'plans.json');
    writeFileSync(plans, '[{"id": "pro"}]');
    const wrong: readonly (readonly [variable: string, settings: Record<string, string>])[] = [
      ['PORT', { PORT: '70000' }],
      ['BASE_URL', { BASE_URL: 'http://teams.example.com' }],
      ['DATABASE_URL', { DATABASE_URL: 'mysql://127.0.0.1/roster', SECRET_KEYS }],
      ['SECRET_KEYS', { DATABASE_URL: 'postgres://127.0.0.1/roster' }],
      ['REDIS_URL', { REDIS_URL: 'redis://:::' }],
      ['SMTP_URL', { SMTP_URL: 'mail.example.com' }],
      ['TRUST_PROXY', { TRUST_PROXY: 'the one in front' }],
      ['RATE_LIMIT', { RATE_LIMIT: 'none' }],
      ['PLANS_FILE', { PLANS_FILE: plans }],
    ];

    const ends: unknown[] = [];
    // Two at a time, because that is what most machines have cores for.
    const rest = [...wrong.entries()];
    const lane = async (): Promise<void> => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const [index, [variable, settings]] = next;
        const service = launchService({ dataDir, env: { PORT: String(await freePort()), ...settings } });
        const { code } = await service.exited;
        const lines = service.complaint().split('\n').filter(Boolean);
        const isClear = lines.length === 1 && lines[0]?.startsWith('roster: ') === true && lines[0].includes(variable);
        ends[index] = { settings, code, clear: isClear || service.complaint(), printed: service.lines };
      }
    };
    await Promise.all([lane(), lane()]);

    expect(ends).toEqual(wrong.map(([, settings]) => ({ settings, code: 1, clear: true, printed: [] })));
  });

  test('a database that does not answer, or a port that is taken, is said in one line too', async () => {
    const dataDir = aDataDir();
    const taken = await aTakenPort();
    const nobody = await freePort();
    const database = await startApi();
    onTestFinished(() => database.close());

    const services = [
      launchService({
        dataDir,
        env: { PORT: String(await freePort()), DATABASE_URL: `postgres://127.0.0.1:${nobody}/roster`, SECRET_KEYS },
      }),
      launchService({
        dataDir,
        env: { PORT: String(await freePort()), DATABASE_URL: `postgres://localhost:${nobody}/roster`, SECRET_KEYS },
      }),
      launchService({ dataDir, env: { PORT: String(taken), DATABASE_URL: database.databaseUrl, SECRET_KEYS } }),
    ];
    const ends = await Promise.all(
      services.map(async (service) => ({ ...(await service.exited), complaint: service.complaint() })),
    );

    for (const end of ends)
      expect(end).toEqual({ code: 1, signal: null, complaint: expect.stringMatching(/^roster: .+\n$/) });
    expect(ends[0]?.complaint).toContain(String(nobody));
    expect(ends[1]?.complaint).toContain(String(nobody));
    expect(ends[2]?.complaint).toContain(String(taken));
    expect(ends.map(({ complaint }) => complaint.split(':')[1]?.trim())).toEqual([
      'DATABASE_URL',
      'DATABASE_URL',
      'PORT',
    ]);
  });
});
