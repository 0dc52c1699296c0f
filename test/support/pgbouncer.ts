import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

// Debian has it outside of the path of ordinary users.
const PROGRAM = existsSync('/usr/sbin/pgbouncer') ? '/usr/sbin/pgbouncer' : 'pgbouncer';

/** Where `.ci/newer-pgbouncer` puts one, if that of the distribution keeps no prepared statements. */
const NEWER_PROGRAM = '/opt/pgbouncer-1.24/pgbouncer';

/** The first version that keeps prepared statements in transaction mode. */
const KEEPING_MINOR = 21;

/** Returns the second number of the version, which begins with 1; NaN if the program cannot be run. */
function readMinorVersion(program: string): number {
  const { stdout, status } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 ? Number(/^PgBouncer 1\.(\d+)/m.exec(stdout)?.[1] ?? Infinity) : NaN;
}

export const hasPgBouncer = !Number.isNaN(readMinorVersion(PROGRAM));

/** The program that keeps prepared statements in transaction mode, which is on by default only since 1.24. */
export const keepingPgBouncer: string | undefined = [PROGRAM, NEWER_PROGRAM].find(
  (program) => readMinorVersion(program) >= KEEPING_MINOR,
);

if (!hasPgBouncer) {
  const advice = 'pgbouncer is not installed (apt-get install pgbouncer, brew install pgbouncer)';
  if (process.env['CI'] !== undefined) throw new Error(`${advice}; under CI no suite is skipped.`);
  process.stderr.write(`\n*** SKIPPED: the tests that need PgBouncer. ${advice} ***\n\n`);
}

/** Not root, which PgBouncer refuses to run as: the account `nobody`. */
const NOBODY = 65_534;

export type PgBouncerOptions = {
  mode: 'session' | 'transaction';
  /** Connections to the server, for all clients together. */
  size: number;
  /** More lines of the section `pgbouncer`. */
  settings?: readonly string[];
  /** Whether it keeps prepared statements, in transaction mode. Only `keepingPgBouncer` can. */
  keepsStatements?: boolean;
};

/** A real PgBouncer with the default configuration of its package, in front of a database. */
export async function startPgBouncer(
  databaseUrl: string,
  { mode, size, settings = [], keepsStatements = false }: PgBouncerOptions,
) {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const program = keepsStatements ? keepingPgBouncer : PROGRAM;
  if (program === undefined) {
    throw new Error('pgbouncer is older than 1.21 (as root: .ci/newer-pgbouncer /opt/pgbouncer-1.24)');
  }
  const folder = mkdtempSync(join(tmpdir(), 'roster-pgbouncer-'));
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    `default_pool_size = ${size}`,
    // An older version knows no such line.
    ...(program === keepingPgBouncer ? [`max_prepared_statements = ${keepsStatements ? 200 : 0}`] : []),
    ...settings,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const isRoot = process.getuid?.() === 0;
  for (const path of [users, file]) if (isRoot) chownSync(path, NOBODY, NOBODY);
  chmodSync(folder, 0o755);
  const child = spawn(program, [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('process up')) resolve();
    });
  });
  const exited = once(child, 'exit');
  await Promise.race([ready, exited.then(() => Promise.reject(new Error(`PgBouncer did not start:\n${output}`)))]);
  const url = new URL(databaseUrl);
  url.port = String(port);

  return {
    url: url.href,
    output: () => output,
    async stop(): Promise<void> {
      process.off('exit', kill);
      kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
