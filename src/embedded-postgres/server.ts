import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fstatSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { getClusterPath, programEnvironment, findReason } from './cluster.ts';
import { describePidFile } from './damage.ts';
import { describeUnusable, EmbeddedError, hasCode, type Home } from './home.ts';
import { ADOPT_SCRIPT, type Hold, holdNew, RUN_SCRIPT } from './life-line.ts';
import { MINUTE_MS } from '../time.ts';

const LOG_BYTES_MAX = 1 << 20;
const LEFTOVERS = /^(life-line|initdb|copying)-/;
const START_MINUTES_MAX = 10;

/** A server, as described by its `postmaster.pid`. */
export type Server = { pid: number; port: number; isReady: boolean };

/** A server that this process started. It can exit because of one that was started concurrently. */
export type Launch = { lifeLine: string; hold: Hold; failure(): string | undefined };

/** A server that this process uses until it calls close(). */
export type Started = { port: number; close(): Promise<void> };

export type LaunchOptions = { home: Home; programs: string; flags: readonly string[] };

export function recordedServer(cluster: string): Server | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' } : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'EISDIR')) throw new EmbeddedError(describePidFile(cluster, 'it is a directory'));
    throw error;
  }
}

/** Returns whether the process is the server of the cluster. After a crash, another process can have its pid. */
export function isServerOf(cluster: string, pid: number): boolean {
  const command = commandLine(pid) ?? '';
  return command.includes(`postgres -D ${cluster} `) && !command.startsWith('/bin/sh ');
}

function commandLine(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

/** Starts a server on a free port, without waiting until it is ready. */
export async function launch({ home, programs, flags }: LaunchOptions): Promise<Launch> {
  const id = randomBytes(6).toString('hex');
  const lifeLine = join(home.path, `life-line-${id}`);
  const settings = [
    `port=${await freePort()}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    // The log contains starts, stops and crashes, but no failed statements, which can contain personal data.
    'log_min_messages=log',
    'log_min_error_statement=panic',
    'log_checkpoints=off',
    `log_line_prefix=%m [%p] ${id} `,
    // Other processes read the path of the life-line from this setting.
    `roster.life_line=${lifeLine}`,
    ...flags,
  ].flatMap((setting) => ['-c', setting]);
  removeEmptyPidFile(getClusterPath(home));
  removeLeftovers(home);
  const log = openLog(home);
  const logStart = fstatSync(log).size;

  createLifeLine(lifeLine, home);
  const hold = holdNew(lifeLine);
  const child = spawn(
    '/bin/sh',
    ['-c', RUN_SCRIPT, 'sh', lifeLine, join(programs, 'bin', 'postgres'), '-D', getClusterPath(home), ...settings],
    // Detached: Ctrl-C in the terminal must not stop the server before the processes that use it.
    {
      ...home.account,
      cwd: '/',
      env: { ...programEnvironment(), ...toStalePidVariable(getClusterPath(home)) },
      detached: true,
      stdio: ['ignore', 'ignore', log],
    },
  );
  closeSync(log);
  child.unref();

  let failure: string | undefined;
  child.once('error', (error) => {
    failure = error.message;
    rmSync(lifeLine, { force: true });
  });
  child.once('exit', () => {
    // The directory may have been removed after the server was stopped.
    const logged = existsSync(logPath(home)) ? readFileSync(logPath(home), 'utf8').slice(logStart) : '';
    failure ??= findReason(selectLines(id, logged));
  });
  return { lifeLine, hold, failure: () => failure };
}

/** @throws EmbeddedError if the system account cannot, such as below a directory that was closed */
function createLifeLine(lifeLine: string, home: Home): void {
  const created = spawnSync('mkfifo', ['-m', '600', lifeLine], {
    ...home.account,
    env: programEnvironment(),
    encoding: 'utf8',
  });
  if (created.error !== undefined) throw created.error;
  if (created.status !== 0) throw new EmbeddedError(describeUnusable(home, created.stderr.trim()));
}

// Concurrent starts write to the same log. A program that could not be executed logs no id.
function selectLines(id: string, log: string): string {
  const lines = log.split('\n').filter((line) => line.includes(` ${id} `));
  return lines.length > 0 ? lines.join('\n') : log;
}

// No server is running at this point, so only concurrent starts can need such files.
function removeLeftovers(home: Home): void {
  for (const name of readdirSync(home.path)) {
    if (!LEFTOVERS.test(name)) continue;
    const path = join(home.path, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > START_MINUTES_MAX * MINUTE_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

// Lets PostgreSQL replace a pid file with exactly this pid. Deleting the file could delete that of a server that was
// started concurrently. (`pg_ctl` uses the variable for its own shell.)
function toStalePidVariable(cluster: string): Record<string, string> {
  const stale = recordedServer(cluster);
  return stale && !isServerOf(cluster, stale.pid) ? { PG_GRANDPARENT_PID: String(stale.pid) } : {};
}

// A power failure can leave an empty file, which PostgreSQL does not remove itself.
function removeEmptyPidFile(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.size === 0 && Date.now() - stats.mtimeMs > 5000) rmSync(file, { force: true });
}

/** Starts a new watcher for a server whose watcher was killed. */
export function adopt(home: Home, lifeLine: string, pid: number): void {
  const log = openLog(home);
  spawn('/bin/sh', ['-c', ADOPT_SCRIPT, 'sh', lifeLine, String(pid), join(getClusterPath(home), 'postmaster.pid')], {
    ...home.account,
    cwd: '/',
    env: programEnvironment(),
    detached: true,
    stdio: ['ignore', 'ignore', log],
  }).unref();
  closeSync(log);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** Returns a function that returns why the server has crashed since, as far as its log says. */
export function watchCrashes(home: Home): () => string | undefined {
  const start = statSync(logPath(home), { throwIfNoEntry: false })?.size ?? 0;
  return () => {
    if (!existsSync(logPath(home))) return undefined;
    const log = readFileSync(logPath(home));
    // A concurrent start can have emptied it.
    const added = log.subarray(log.length < start ? 0 : start).toString();
    // After the reason, connections are ended and denied.
    const lines = added.split('\n').filter((line) => /PANIC|FATAL/.test(line));
    const reason = lines.find((line) => /PANIC|No space left|Disk quota/.test(line)) ?? lines[0];
    return reason === undefined ? undefined : findReason(reason);
  };
}

export function logPath(home: Home): string {
  return join(home.path, 'server.log');
}

function openLog(home: Home): number {
  const log = openSync(logPath(home), 'a', 0o600);
  if (fstatSync(log).size > LOG_BYTES_MAX) ftruncateSync(log);
  if ('uid' in home.account) fchownSync(log, home.account.uid, home.account.gid);
  return log;
}
