import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { createClient } from '../support/client.ts';
import { freePort, launchService, makeDataDir, removeDataDir, startService, type Service } from '../support/service.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';
const ROOMY = { RATE_LIMIT: '1000000', TEAM_LIMIT: '1000000' };
const BOUND = { interval: 5, timeout: PATIENCE_MS };

function aDataDir(): string {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  return dataDir;
}

/** The service, ready; it ends before its data directory is removed. */
async function aService(dataDir: string, env: Record<string, string> = {}): Promise<Service> {
  const service = await startService({ dataDir, env });
  onTestFinished(async () => {
    service.kill('SIGKILL');
    await service.exited;
  });
  return service;
}

function clientOf({ port }: Service) {
  const client = createClient(port, undefined);
  onTestFinished(() => client.close());
  return client;
}

async function ended(service: Service, signal: NodeJS.Signals) {
  service.kill(signal);
  return service.exited;
}

async function aTakenPort(): Promise<number> {
  const server: Server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port; // listening on TCP
}

type Printed = { readonly path: string; readonly secret: string; readonly body: unknown };

/** The curl commands that a service has printed, parsed. */
function printedCommands({ lines, port }: Service): Printed[] {
  const commands = lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim().startsWith('curl '));
  return commands.map((command) => {
    const [, url = ''] = /curl (\S+)/.exec(command) ?? [];
    const [, secret = ''] = /'Authorization: Bearer (\S+)'/.exec(command) ?? [];
    const [, body] = /-d '(.+)'/.exec(command) ?? [];
    const { pathname, origin } = new URL(url);
    expect(origin).toBe(`http://localhost:${port}`);
    return { path: pathname, secret, body: body === undefined ? undefined : JSON.parse(body) };
  });
}

/** Signs in as pages of the service do. */
const signIn = ({ port }: Service, email: string, password: string) =>
  fetch(`http://127.0.0.1:${port}/trpc/auth.signIn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: `http://localhost:${port}` },
    body: JSON.stringify({ email, password }),
  });

/** The demo key with all scopes. */
function demoSecret({ lines }: Service): string {
  const [, secret] = /all scopes\s+(rst_pk_\w+)/.exec(lines.join('\n')) ?? [];
  if (secret === undefined) throw new Error('No demo key was printed.');
  return secret;
}

describe('the first start', () => {
  test('prints commands that work as they are, and the next start prints none', async () => {
    const dataDir = aDataDir();
    const first = await aService(dataDir);
    process.stdout.write(`first start: ${Math.round(first.startMs)} ms\n`);
    // The password and the commands come before it.
    await expect.poll(() => first.lines.some((line) => line.includes('API reference')), BOUND).toBe(true);
    const commands = printedCommands(first);
    expect(first.lines.find((line) => line !== '')).toContain('Demo data');

    const answers = [];
    for (const { path, secret, body } of commands) {
      const caller = clientOf(first).as(secret);
      answers.push(await (body === undefined ? caller.get(path) : caller.post(path, body)));
    }

    expect(answers[0]?.status).toBe(200);
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    const [, password = ''] = /Password\s+(\S+)/.exec(first.lines.join('\n')) ?? [];
    for (const email of ['owner@example.com', 'guest@example.com'])
      expect((await signIn(first, email, password)).status).toBe(200);
    expect(await ended(first, 'SIGTERM')).toEqual({ code: 0, signal: null });
    expect(first.complaint()).toBe('');

    const second = await aService(dataDir);
    process.stdout.write(`second start: ${Math.round(second.startMs)} ms\n`);
    expect(
      (
        await clientOf(second)
          .as(commands[0]?.secret ?? '')
          .get('/api/v1/credential')
      ).status,
    ).toBe(200);
    expect(await ended(second, 'SIGTERM')).toEqual({ code: 0, signal: null });
    expect(second.lines.filter((line) => line.includes('curl') || line.includes('rst_'))).toEqual([]);
  });

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

describe('SIGKILL', () => {
  test('under writes loses nothing that was acknowledged, and the next start works', async () => {
    const dataDir = aDataDir();
    const acknowledged: string[] = [];
    let service = await aService(dataDir, ROOMY);
    await expect.poll(() => service.lines.some((line) => line.includes('all scopes')), BOUND).toBe(true);
    const secret = demoSecret(service);

    for (const round of [1, 2]) {
      const caller = clientOf(service).as(secret);
      const enough = acknowledged.length + 80;
      const writer = async (lane: number): Promise<void> => {
        for (let i = 0; ; i += 1) {
          const name = `Round ${round} lane ${lane} team ${i}`;
          const answer = await caller.post('/api/v1/teams', { name }).catch(() => undefined);
          if (answer === undefined) return;
          expect(answer.status).toBe(201);
          acknowledged.push(name);
        }
      };
      const writers = Promise.all([1, 2, 3, 4, 5, 6].map(writer));
      await expect.poll(() => acknowledged.length, BOUND).toBeGreaterThan(enough);
      expect(await ended(service, 'SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
      await writers;
      service = await aService(dataDir, ROOMY);
    }

    const { body } = await clientOf(service).as(secret).get('/api/v1/teams');
    const kept = new Set((body as { name: string }[]).map(({ name }) => name));
    expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
  });

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
  test('drains, finishes what runs, writes lastUsedAt and exits with 0 within 10 s', async () => {
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
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
    expect(service.complaint()).toBe('');
    const [row] = await database.rows<{ last_used_at: string | null }>(
      'select last_used_at from api_key where id = $1',
      [key.id],
    );
    expect(Date.now() - Date.parse(row?.last_used_at ?? '')).toBeLessThan(120_000);
  });

  test('and SIGINT, with idle connections and a request that never ends, still exit with 0 within 10 s', async () => {
    const database = await startApi();
    onTestFinished(() => database.close());
    const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read', 'teams:write'] });
    const service = await aService(aDataDir(), { DATABASE_URL: database.databaseUrl, SECRET_KEYS });
    const client = clientOf(service);
    await Promise.all([1, 2, 3].map(() => client.as(key).get('/api/v1/teams')));
    await aSlowCreateTeam(service, key.secret);
    const stoppedAt = performance.now();

    service.kill('SIGINT');
    service.kill('SIGTERM');

    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
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
