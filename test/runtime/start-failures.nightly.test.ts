import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { refusalOf, run } from '../cli/roster.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { launchService, makeDataDir, removeDataDir, serverEnded, startService } from '../support/service.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

function aDataDir(): string {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  return dataDir;
}

/** Starts the service, which fails. @returns what it reports, one line for each fault */
async function failedStart(
  env: Record<string, string>,
  dataDir = aDataDir(),
  options: { maxFiles?: number } = {},
): Promise<string[]> {
  const service = launchService({ dataDir, env: { PORT: String(await freePort()), ...env }, ...options });
  const { code } = await service.exited;
  expect({ code, printed: service.lines }).toEqual({ code: 1, printed: [] });
  return service.complaint().trimEnd().split('\n');
}

/** The data directory of a service that has run. */
async function aUsedDataDir(): Promise<string> {
  const dataDir = aDataDir();
  const service = await startService({ dataDir, env: { SEED_DEMO: 'off' } });
  service.kill('SIGTERM');
  await service.exited;
  await serverEnded(dataDir);
  return dataDir;
}

test('a start reports all invalid variables together, by name', async () => {
  const faults = await failedStart({
    PORT: '70000',
    BASE_URL: 'https://teams.example.com/roster',
    DATABASE_URL: 'mysql://127.0.0.1/roster',
    INVITATION_DAYS: '99999999999',
    TRUST_PROXY: 'the one in front',
    TRPC_ORIGINS: 'https://app.example.com/console',
  });

  expect(faults).toEqual([
    'roster: PORT: must be a whole number from 1 to 65535',
    'roster: BASE_URL: must not contain a path, query or fragment',
    'roster: DATABASE_URL: must be a URL that starts with postgres:// or postgresql://',
    'roster: TRUST_PROXY: must be a number of hops, true, or IP addresses and networks, not "the one in front"',
    'roster: INVITATION_DAYS: must be a whole number from 1 to 3650',
    'roster: TRPC_ORIGINS: must not contain a path, query or fragment',
    'roster: SECRET_KEYS: required with DATABASE_URL; set at least 32 random ASCII characters',
  ]);
});

describe('a database that cannot be used', () => {
  test('is reported in one line that names DATABASE_URL and never the password', async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const withUrl = async (change: (url: URL) => void) => {
      const url = new URL(database.url);
      change(url);
      return failedStart({ DATABASE_URL: url.href, SECRET_KEYS });
    };

    const [wrongPassword, wrongName] = await Promise.all([
      withUrl((url) => (url.password = 'not-the-password')),
      withUrl((url) => (url.pathname = '/no_such_database')),
    ]);

    expect(wrongPassword).toEqual([
      expect.stringMatching(/^roster: DATABASE_URL: PostgreSQL at \S+ denied the login of \w+: check the user and/),
    ]);
    expect(wrongPassword.join()).not.toContain('not-the-password');
    expect(wrongName).toEqual([
      expect.stringMatching(/^roster: DATABASE_URL: the database no_such_database does not exist at \S+: create it$/),
    ]);
  });
});

describe('a database that another version migrated', () => {
  const migratedBy = async (version: string) => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`comment on table mikro_orm_migrations is 'Roster ${version}'`);
    await client.end();
    return { DATABASE_URL: database.url, SECRET_KEYS };
  };

  test('is served one version behind it, with a warning', async () => {
    const service = await startService({ dataDir: aDataDir(), env: await migratedBy('1.1.0') });
    service.kill('SIGTERM');
    await service.exited;

    const warnings = service.lines.filter((line) => line.startsWith('{"level":40') && line.includes('migrat'));
    expect(warnings.map((line) => JSON.parse(line) as object)).toMatchObject([
      { migratedBy: '1.1', msg: 'a newer version migrated the database; replace this one soon' },
    ]);
  });

  test('is refused two versions behind it, in one line', async () => {
    expect(await failedStart(await migratedBy('1.2.0'))).toEqual([
      expect.stringMatching(/^roster: the database was migrated by Roster 1\.2, more than one version after this one/),
    ]);
  });
});

/** A directory on a file system of its own. */
function aFileSystem(options: string): string {
  const directory = aDataDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=755,${options}`, 'tmpfs', directory]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', directory]));
  return directory;
}

describe.skipIf(process.getuid?.() !== 0)('a file system', () => {
  test('that is full or read-only is reported in one line that names DATA_DIR', async () => {
    const [full, readOnly] = await Promise.all([
      failedStart({}, join(aFileSystem('size=8m'), 'var')),
      failedStart({}, join(aFileSystem('size=1m,ro'), 'var')),
    ]);

    expect(full).toEqual([expect.stringMatching(/^roster: DATA_DIR: .*No space left on device$/)]);
    expect(readOnly).toEqual([
      expect.stringMatching(/^roster: DATA_DIR: \S+ cannot be used: the file system is read-only \(EROFS\)$/),
    ]);
  });
});

/** A data directory whose database was created, and not migrated. */
async function createdDatabase(): Promise<string> {
  const dataDir = aDataDir();
  const embedded = await startEmbedded({ dataDir, durable: false });
  await embedded.close();
  await serverEnded(dataDir);
  return dataDir;
}

describe.skipIf(process.getuid?.() !== 0)('a disk that is full once the embedded database is made', () => {
  // Too little for what the migrations write.
  test.for([1, 2])('says so, with %i MiB left', async (left) => {
    const made = await createdDatabase();
    const kilobytes = Number(execFileSync('du', ['-sk', made]).toString().split('\t')[0]);
    const dataDir = join(aFileSystem(`size=${kilobytes + left * 1024}k`), 'var');
    execFileSync('cp', ['-a', made, dataDir]);

    expect(await failedStart({}, dataDir)).toEqual([
      expect.stringMatching(/^roster: DATA_DIR: .*(No space left on device|the disk is full \(53100\))$/),
    ]);
  });
});

describe.skipIf(process.platform !== 'linux')('a data directory that cannot be used', () => {
  test('is reported in one line that names DATA_DIR and the cause', async () => {
    const file = join(aDataDir(), 'file');
    writeFileSync(file, '');

    expect(await failedStart({ DATA_DIR: file })).toEqual([
      expect.stringMatching(/^roster: DATA_DIR: .* cannot be used: it is not a directory \(E\w+\)$/),
    ]);
  });

  test('is reported in one line if too few files can be open', async () => {
    expect(await failedStart({}, aDataDir(), { maxFiles: 30 })).toEqual([
      expect.stringMatching(
        /^roster: DATA_DIR: .*too many files are open: raise the limit \(`ulimit -n`\) \(EMFILE\)$/,
      ),
    ]);
  });

  test('names the damaged file: emptied secret keys, an emptied or missing password, an emptied control file', async () => {
    const dataDir = await aUsedDataDir();
    const keys = join(dataDir, 'secret-keys');
    const password = join(dataDir, 'postgres', 'data', 'roster.password');
    const control = join(dataDir, 'postgres', 'data', 'global', 'pg_control');
    const replaced = async (path: string, content: string | undefined) => {
      const before = readFileSync(path);
      if (content === undefined) rmSync(path);
      else writeFileSync(path, content);
      const faults = await failedStart({}, dataDir);
      await serverEnded(dataDir);
      writeFileSync(path, before);
      return faults;
    };

    expect(await replaced(keys, '')).toEqual([
      expect.stringMatching(
        /^roster: DATA_DIR: \S+secret-keys is damaged: restore it from a backup, or set SECRET_KEYS/,
      ),
    ]);
    renameSync(keys, `${keys}.kept`);
    mkdirSync(keys);
    expect(await failedStart({}, dataDir)).toEqual([
      expect.stringMatching(/^roster: DATA_DIR: \S+secret-keys cannot be read: EISDIR/),
    ]);
    await serverEnded(dataDir);
    rmSync(keys, { recursive: true });
    renameSync(`${keys}.kept`, keys);
    expect(await replaced(password, '')).toEqual([
      expect.stringMatching(/^roster: DATA_DIR: the embedded PostgreSQL rejects the password in `roster\.password`/),
    ]);
    expect(await replaced(password, undefined)).toEqual([
      expect.stringMatching(/^roster: DATA_DIR: \S+roster\.password is missing: restore that file/),
    ]);
    expect(await replaced(control, '')).toEqual([
      expect.stringMatching(
        /^roster: DATA_DIR: the files of the embedded PostgreSQL are damaged: restore a backup \(.*pg_control/,
      ),
    ]);
  });

  // Guarantees that no new keys hide that the old ones, and with them all encrypted data, are lost.
  test('names deleted secret keys beside a filled database, in which the first start generated them', async () => {
    const dataDir = await aUsedDataDir();
    const keys = join(dataDir, 'secret-keys');
    const before = readFileSync(keys, 'utf8');
    const { code } = await run({ DATA_DIR: dataDir }, ['account', 'create', '--email', 'a@example.com']);
    expect(code).toBe(0);
    rmSync(keys);

    const missing = /^roster: DATA_DIR: \S+secret-keys is missing, but the database is not empty: restore the file/;
    expect(await failedStart({}, dataDir)).toEqual([expect.stringMatching(missing)]);
    expect(refusalOf(await run({ DATA_DIR: dataDir }, ['account', 'list']))).toMatch(/secret-keys is missing/);
    expect((await run({ DATA_DIR: dataDir }, ['doctor'])).stdout).toMatch(
      /^FAILED +encrypted-data +DATA_DIR: \S+secret-keys is missing, but the database is not empty/m,
    );
    expect(existsSync(keys)).toBe(false);

    writeFileSync(keys, before);
    expect((await run({ DATA_DIR: dataDir }, ['account', 'list'])).code).toBe(0);
  });
});
