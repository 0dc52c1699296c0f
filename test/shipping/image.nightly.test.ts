import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startMailServer } from '../jobs/mail-server.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { freePort } from '../support/free-port.ts';
import { commandIn, environmentOf, instruction, ROOT } from './dockerfile.ts';
import { makeImageTree, type ImageTree } from './image-tree.ts';
import { manifestOf, manifestsIn } from './manifests.ts';

// The image without an engine: its files read-only, its commands as its user.

let tree: ImageTree;

/** Runs a command in a root that it cannot write, as a user: sh -c … sh ROOT USER COMMAND. Each step replaces the one before. */
const IN_READ_ONLY_ROOT = `root=$1 user=$2; shift 2
mount --bind "$root" "$root" && mount -o remount,ro,bind "$root" && mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
PATH=/usr/sbin:/usr/bin:/sbin:/bin exec chroot --userspec="$user" "$root" /bin/sh -c 'cd /app && PATH=/usr/local/bin:/usr/bin:/bin exec "$@"' sh "$@"`;

const kubernetes = manifestsIn('config.yaml', 'migrate.yaml', 'roster.yaml');

/** Runs a command of the image as its user. */
function runInImage([program, ...args]: string[], env: Record<string, string>) {
  expect(program).toBe('node');
  const [uid, gid] = instruction(tree.image, 'USER').split(':').map(Number);
  const options = {
    env: { ...environmentOf(tree.image), PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'],
  };
  const child =
    tree.root === undefined
      ? spawn(tree.node, args, {
          ...options,
          cwd: tree.directory,
          // Only root can become another user; any other user has no more rights than that one here.
          ...(process.getuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : {}),
        })
      : spawn(
          'unshare',
          ['--mount', 'sh', '-c', IN_READ_ONLY_ROOT, 'sh', tree.root, `${uid}:${gid}`, 'node', ...args],
          options,
        );
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = once(child, 'close').then(async ([code]: unknown[]) => {
    process.off('exit', kill);
    const [stdout, stderr] = await printed;
    return { code, stdout, stderr };
  });
  return { child, ended };
}

async function aPlace(createDatabase = createTestDatabase) {
  const database = await createDatabase();
  const mail = await startMailServer();
  const redis = hasRedis ? await startRedis() : undefined;
  onTestFinished(async () => {
    await redis?.stop();
    await mail.close();
    await database.drop();
  });
  const port = String(await freePort());
  return {
    mail,
    port,
    url: `http://127.0.0.1:${port}`,
    env: {
      ...manifestOf(kubernetes, 'ConfigMap').data,
      BASE_URL: `http://localhost:${port}`,
      PORT: port,
      HOST: '127.0.0.1',
      SIGNUP: 'open',
      DRAIN_SECONDS: '0',
      DATABASE_URL: database.url,
      SMTP_URL: mail.url,
      SECRET_KEYS: 'k'.repeat(40),
      ...(redis ? { REDIS_URL: redis.url } : {}),
    },
  };
}

describe.skipIf(process.platform === 'win32')('the image', () => {
  beforeAll(() => {
    tree = makeImageTree();
  });
  afterAll(() => tree.remove());

  test('starts the service with the same options of Node.js as `npm start`', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
    const [, ...command] = commandIn(instruction(tree.image, 'CMD'));

    expect(scripts.start).toBe(`exec node bin/run.cjs ${command.join(' ')}`);
  });

  test('serves pages, the API and email on a read-only file system, and stops on a signal', async () => {
    const { env, url, port, mail } = await aPlace();
    const healthCheck = commandIn(instruction(tree.image, 'HEALTHCHECK'));
    const service = runInImage(commandIn(instruction(tree.image, 'CMD')), env);
    onTestFinished(() => void service.child.kill('SIGKILL'));
    const status = (path: string) =>
      fetch(`${url}${path}`).then(
        async (answer) => [answer.status, (await answer.arrayBuffer()).byteLength > 0],
        () => undefined,
      );
    const { containers } = manifestOf(kubernetes, 'Deployment').spec.template.spec;
    const { startupProbe, livenessProbe, readinessProbe } = containers[0];

    await expect.poll(() => status('/readyz'), { interval: 50 }).toEqual([200, true]);

    const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet.path ?? '');
    for (const path of [...paths, '/', '/docs', '/api/v1/openapi.json', '/problems/rate-limited'])
      expect([path, await status(path)]).toEqual([path, [200, true]]);
    expect(await runInImage(healthCheck, { PORT: port }).ended).toEqual({ code: 0, stdout: '', stderr: '' });

    const signedUp = await fetch(`${url}/trpc/auth.signUp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: env.BASE_URL, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ email: 'ada@example.com', password: 'wandering heron 42' }),
    });
    expect(signedUp.status).toBe(200);
    await expect.poll(() => mail.mails.length, { interval: 20 }).toBe(1);

    service.child.kill('SIGTERM');
    const { code, stdout, stderr } = await service.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // On a busy machine Redis may be slow, which the limiter reports and bridges.
    const warnings = stdout.split('\n').filter((line) => /"level":[4-6]0/.test(line));
    expect(warnings.filter((line) => !line.includes('Redis did not answer in'))).toEqual([]);
    expect((await runInImage(healthCheck, { PORT: port }).ended).code).toBe(1);
  });

  test.runIf(hasRedis)('serves with two replicas, of which one goes on while it drains and then ends', async () => {
    const { env, url } = await aPlace();
    const otherPort = String(await freePort());
    const replicas = [
      { url, service: runInImage(commandIn(instruction(tree.image, 'CMD')), { ...env, DRAIN_SECONDS: '4' }) },
      {
        url: `http://127.0.0.1:${otherPort}`,
        service: runInImage(commandIn(instruction(tree.image, 'CMD')), { ...env, PORT: otherPort }),
      },
    ] as const;
    onTestFinished(() => {
      for (const { service } of replicas) service.child.kill('SIGKILL');
    });
    const status = async (base: string, path: string) => (await fetch(`${base}${path}`).catch(() => undefined))?.status;
    const readiness = (base: string, expected: number) =>
      vi.waitUntil(async () => (await status(base, '/readyz')) === expected, { interval: 50, timeout: 30_000 });
    for (const { url: base } of replicas) await readiness(base, 200);

    const [leaving, staying] = replicas;
    leaving.service.child.kill('SIGTERM');
    await readiness(leaving.url, 503);
    expect(await status(leaving.url, '/api/v1/openapi.json')).toBe(200);
    expect((await leaving.service.ended).code).toBe(0);
    expect(await status(staying.url, '/api/v1/openapi.json')).toBe(200);
    staying.service.child.kill('SIGTERM');
    expect((await staying.service.ended).code).toBe(0);
  });

  test('runs the migration job, which leaves nothing to do for a second one, and the other commands', async () => {
    const { env } = await aPlace(createEmptyDatabase);
    const migration = manifestOf(kubernetes, 'Job').spec.template.spec.containers[0].command ?? [];

    expect(await runInImage(migration, env).ended).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^(Migration\d{14}_\w+\n)+$/),
      stderr: '',
    });
    expect(await runInImage(migration, env).ended).toEqual({
      code: 0,
      stdout: 'The database is up to date.\n',
      stderr: '',
    });
    expect(await runInImage(['node', 'src/cli/main.ts', 'doctor'], env).ended).toMatchObject({ code: 0, stderr: '' });
  });

  // Guarantees that a setting that is forgotten is said, instead of a database that goes with the container.
  test('reports the missing variable without a database', async () => {
    const { DATABASE_URL: _, ...env } = (await aPlace()).env;

    const { code, stderr } = await runInImage(commandIn(instruction(tree.image, 'CMD')), env).ended;

    expect(code).toBe(1);
    expect(stderr).toMatch(/^roster: .*DATABASE_URL.*\n$/);
  });
});
