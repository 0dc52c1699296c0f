import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { freePort, makeDataDir, removeDataDir } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');

// The other tests start src/main.ts itself; users start it with bin/run.cjs.
test.skipIf(process.platform === 'win32')(
  'the service serves when started as `npm start` does, and stops gracefully when its wrapper is killed',
  async () => {
    const dataDir = makeDataDir();
    const database = await createTestDatabase();
    onTestFinished(async () => {
      await database.drop();
      await removeDataDir(dataDir);
    });
    const port = await freePort();
    const { PATH = '', HOME = '' } = process.env;
    const wrapper = spawn(process.execPath, ['bin/run.cjs', 'src/main.ts'], {
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
    onTestFinished(() => void wrapper.kill('SIGKILL'));
    const [output, complaint] = [text(wrapper.stdout), text(wrapper.stderr)];
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${port}/readyz`).then(
            ({ status }) => status,
            () => wrapper.exitCode,
          ),
        { timeout: 25_000 },
      )
      .toBe(200);

    wrapper.kill('SIGKILL');

    // Both end when the service, which holds them too, has ended.
    expect(await complaint).toBe('');
    expect(await output).toContain('"msg":"stopped"');
  },
);
