import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';

const [INITDB] = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().toReversed();

export const hasSystemPostgres = INITDB !== undefined;

if (!hasSystemPostgres) {
  const advice = 'PostgreSQL is not installed (apt-get install postgresql)';
  if (process.env['CI'] !== undefined) throw new Error(`${advice}; under CI no suite is skipped.`);
  process.stderr.write(`\n*** SKIPPED: the tests on the PostgreSQL of this system. ${advice} ***\n\n`);
}

const START_MS_MAX = 30_000;
const MEMORY = '/dev/shm';
const PASSWORD = 'system';

/** What a test server needs beside the defaults of its package, which are what the tests are about. */
const FLAGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300', 'fsync=off'];

/** Returns the account that runs the server, because PostgreSQL does not run as root. */
function systemAccount(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Starts a server of the PostgreSQL package of this system, with the defaults that the package gives it. */
export async function startSystemPostgres(flags: readonly string[] = []) {
  if (INITDB === undefined) throw new Error('PostgreSQL is not installed.');
  const account = systemAccount();
  const home = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'roster-system-'));
  const [directory, passwordFile] = [join(home, 'data'), join(home, 'password')];
  mkdirSync(directory);
  writeFileSync(passwordFile, PASSWORD);
  if (account.uid !== undefined && account.gid !== undefined)
    for (const path of [home, directory, passwordFile]) chownSync(path, account.uid, account.gid);
  chmodSync(home, 0o755);
  const options = { ...account, cwd: home };
  const login = ['--username=roster', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  execFileSync(
    INITDB,
    [`--pgdata=${directory}`, '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync', ...login],
    options,
  );
  const port = await freePort();
  const settings = [`port=${port}`, ...FLAGS, ...flags].flatMap((flag) => ['-c', flag]);
  const child = spawn(INITDB.replace(/initdb$/, 'postgres'), ['-D', directory, ...settings], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit');
  const kill = () => void child.kill('SIGQUIT');
  process.once('exit', kill);
  const url = `postgres://roster:${PASSWORD}@127.0.0.1:${port}/postgres`;
  await untilReady(url, () => output);

  return {
    url,
    directory,
    async close(): Promise<void> {
      process.off('exit', kill);
      child.kill('SIGINT');
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string, output: () => string): Promise<void> {
  for (const deadline = Date.now() + START_MS_MAX; ; await sleep(20)) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch {
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not start:\n${output()}`);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
