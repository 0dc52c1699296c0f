import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { makeDataDir, removeDataDir } from '../support/service.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const ROOT = join(import.meta.dirname, '../..');

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** The processes that a process has started, at any depth. */
const allBelow = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...allBelow(child)]);

const commandOf = (pid: number): string => basename(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '');

/** Starts the service as users do, and waits until it serves. */
async function npmStart() {
  const dataDir = makeDataDir();
  const database = await createTestDatabase();
  onTestFinished(async () => {
    await database.drop();
    await removeDataDir(dataDir);
  });
  const port = await freePort();
  const { PATH = '', HOME = '' } = process.env;
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    env: {
      PATH,
      HOME,
      PORT: String(port),
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      SECRET_KEYS: 'k'.repeat(40),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void npm.kill('SIGKILL'));
  const [output, complaint] = [text(npm.stdout), text(npm.stderr)];
  await expect
    .poll(
      () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => status,
          () => npm.exitCode,
        ),
      { timeout: PATIENCE_MS },
    )
    .toBe(200);
  return { npm, services: allBelow(npm.pid ?? 0), output, complaint };
}

// The other tests start src/main.ts itself; users start it with `npm start`.
describe.skipIf(!existsSync('/proc/self/task'))('the service started by `npm start`', () => {
  test('is the only process beside npm, which waits until it has stopped when told to end', async () => {
    const { npm, services, output, complaint } = await npmStart();
    expect(services.map(commandOf)).toEqual(['node']);

    npm.kill('SIGTERM');

    const [status] = await once(npm, 'exit');
    expect(services.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect({ status, complaint: await complaint }).toEqual({ status: 0, complaint: '' });
    expect(await output).toContain('"msg":"stopped"');
  });

  test('stops gracefully when npm is killed', async () => {
    const { npm, output, complaint } = await npmStart();

    npm.kill('SIGKILL');

    // Both end when the service, which holds them too, has ended.
    expect(await complaint).toBe('');
    expect(await output).toContain('"msg":"stopped"');
  });
});
