import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';

// compose.yaml as `run-compose.sh` runs it: by Docker Compose, in a network of its own.

const [program = '', ...options] = (process.env['COMPOSE'] ?? '').split(' ');
const ORIGIN = 'http://localhost:3000';
const EMAIL = 'ada@example.com';

// Vite sets a BASE_URL of its own, which would replace the default of compose.yaml.
const { BASE_URL: _, ...env } = process.env;
const run = promisify(execFile);
const compose = async (...args: string[]): Promise<string> =>
  (await run(program, [...options, ...args], { env })).stdout;
const inReplica = (...command: string[]) => compose('exec', '-T', 'roster-1', ...command);
const roster = (...args: string[]) => inReplica('node', 'src/cli/main.ts', ...args);

type Container = {
  readonly Service: string;
  readonly State: string;
  readonly Health: string;
  readonly ExitCode: number;
};

/** Returns the state of each container, also of those that have ended. */
async function listContainers(): Promise<Record<string, string>> {
  const lines = (await compose('ps', '--all', '--format', 'json')).trim().split('\n');
  const containers = lines.map((line) => JSON.parse(line) as Container);
  return Object.fromEntries(
    containers.map(({ Service, State, Health, ExitCode }) => [
      Service,
      State === 'running' ? Health || State : `${State} ${ExitCode}`,
    ]),
  );
}

async function createKey(email: string): Promise<string> {
  await roster('account', 'create', '--email', email);
  const printed = await roster('--json', 'key', 'create', '--email', email, '--scopes', 'teams:read');
  return (JSON.parse(printed) as { secret: string }).secret;
}

const listTeams = (key: string) => fetch(`${ORIGIN}/api/v1/teams`, { headers: { authorization: `Bearer ${key}` } });

/** Sends requests in several loops until it is stopped. @returns how often each result was seen */
function startLoad(key: string) {
  const counts: Record<string, number> = {};
  let isStopped = false;
  const loop = async (pauseMs: number, send: () => Promise<Response>) => {
    while (!isStopped) {
      const result = await send().then(
        async (response) => response.text().then(() => response.status),
        (error: unknown) => String(error),
      );
      counts[result] = (counts[result] ?? 0) + 1;
      await delay(pauseMs);
    }
  };
  const loops = [
    ...['/', '/docs', '/problems/rate-limited'].map((path) => loop(10, () => fetch(`${ORIGIN}${path}`))),
    loop(300, () => listTeams(key)), // below the rate limit of a key
  ];
  return async () => {
    isStopped = true;
    await Promise.all(loops);
    return counts;
  };
}

beforeAll(async () => {
  await compose('up', '-d', '--no-build');
}, 180_000);

test('migrates once, then starts two healthy replicas and the proxy', async () => {
  expect(await listContainers()).toMatchObject({
    migrate: 'exited 0',
    database: 'healthy',
    redis: 'healthy',
    'roster-1': 'healthy',
    'roster-2': 'healthy',
    proxy: 'running',
  });
  // Compose erases the line before it prints one.
  const printed = (await compose('logs', '--no-log-prefix', 'migrate')).replaceAll('\u001B[2K', '');
  expect(printed).toMatch(/^(Migration\d{14}_\w+\n)+$/);
  expect(await compose('run', '--rm', '-T', 'migrate')).toBe('The database is up to date.\n');
});

test('sends the email of a sign-up through the proxy to the mail server', async () => {
  const signedUp = await fetch(`${ORIGIN}/trpc/auth.signUp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ORIGIN, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ email: EMAIL, password: 'wandering heron 42' }),
  });

  expect(signedUp.status).toBe(200);
  const inbox = async () => (await fetch('http://localhost:8025')).text();
  await expect.poll(inbox).toContain(`To: ${EMAIL}`);
  expect(await inbox()).toContain(`${ORIGIN}/`);
});

test('responds to a request with a key that a command has created', async () => {
  const teams = await listTeams(await createKey('grace@example.com'));

  expect([teams.status, await teams.json()]).toEqual([200, []]);
});

test('reports every dependency as ok', async () => {
  const report = await roster('doctor').catch(({ stdout }: { stdout: string }) => stdout);

  expect(report).toMatch(/^(ok .*\n)+$/);
});

test('runs without root, capabilities and a file system that it can write', async () => {
  const status = await inReplica('cat', '/proc/1/status');
  const valuesOf = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1];

  expect(['Uid', 'CapEff', 'CapBnd', 'NoNewPrivs'].map(valuesOf)).toEqual([
    '1000\t1000\t1000\t1000',
    '0'.repeat(16),
    '0'.repeat(16),
    '1',
  ]);
  expect(await inReplica('cat', '/proc/1/mounts')).toMatch(/^\S+ \/ \S+ ro,/m);
});

test('replaces one replica after the other, as the documentation says, and loses no request', async () => {
  const stopLoad = startLoad(await createKey('lin@example.com'));

  for (const replica of ['roster-1', 'roster-2'])
    await compose('up', '-d', '--no-build', '--no-deps', '--wait', '--force-recreate', replica);

  const counts = await stopLoad();
  expect(Object.keys(counts)).toEqual(['200']);
  expect(counts['200']).toBeGreaterThan(100);
});

test('goes on with one replica', async () => {
  const stopLoad = startLoad(await createKey('eva@example.com'));

  await compose('stop', 'roster-2');

  expect(Object.keys(await stopLoad())).toEqual(['200']);
  expect(await listContainers()).toMatchObject({ 'roster-1': 'healthy', 'roster-2': 'exited 0' });
});
