import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { freePort, makeDataDir, removeDataDir } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The commands of all processes that a process has started, at any depth. */
function commandsBelow(pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [readFileSync(`/proc/${child}/cmdline`, 'utf8'), ...commandsBelow(child)]);
}

// The other tests start src/main.ts itself; users start it with `npm start`.
test.skipIf(!existsSync('/proc/self/task'))(
  'the service serves when started by `npm start`, in one process beside npm, and stops gracefully when npm is killed',
  async () => {
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
        { timeout: 25_000 },
      )
      .toBe(200);
    const commands = commandsBelow(npm.pid ?? 0).map((command) => basename(command.split('\0')[0] ?? ''));
    expect(commands.filter((command) => command !== 'sh')).toEqual(['node']);

    npm.kill('SIGKILL');

    // Both end when the service, which holds them too, has ended.
    expect(await complaint).toBe('');
    expect(await output).toContain('"msg":"stopped"');
  },
);
