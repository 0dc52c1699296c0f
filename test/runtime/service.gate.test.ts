import { describe, expect, test } from 'vitest';
import type { Service } from '../support/service.ts';
import { aDataDir, aService, BOUND, clientOf, demoSecret, ended, ROOMY } from './services.ts';

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

/** What a shell has for psql says nothing about the embedded database. */
const OF_ANOTHER_SERVER = {
  PGHOST: 'db.invalid',
  PGPORT: '1',
  PGUSER: 'ada',
  PGPASSWORD: 'wrong',
  PGDATABASE: 'other',
  PGSSLMODE: 'verify-full',
  PGSSLROOTCERT: '/nowhere.crt',
  PGSSLCERT: '/nowhere.crt',
  PGOPTIONS: '-c statement_timeout=1 -c no.such=setting',
  PGCONNECT_TIMEOUT: '1',
  PGTZ: 'Asia/Tokyo',
  PGAPPNAME: 'psql',
};

describe('the first start', () => {
  test('prints commands that work as they are, and the next start prints none', async () => {
    const dataDir = aDataDir();
    const first = await aService(dataDir, OF_ANOTHER_SERVER);
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
});
