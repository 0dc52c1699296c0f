import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeUnusable, EmbeddedError, hasCode, type Home } from './home.ts';

const PASSWORD_FILE = 'roster.password';

export const SUPERUSER = 'roster';

/** Returns the environment of the server's programs: messages in English, times in UTC, no PG… variables. */
export function programEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...windowsEnvironment() };
}

function windowsEnvironment(): Record<string, string> {
  const root = process.env['SystemRoot'];
  return root ? { SystemRoot: root } : {};
}

export function getClusterPath(home: Home): string {
  return join(home.path, 'data');
}

export function readPassword(home: Home): string {
  const file = join(getClusterPath(home), PASSWORD_FILE);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new EmbeddedError(`DATA_DIR: ${file} is missing: restore that file`);
  }
}

/**
 * Creates the cluster if it does not exist. It is created in a temporary directory, with its password, and then
 * renamed, so that an interrupted start leaves no partial cluster and only one of several concurrent starts wins.
 * @returns whether this call created it
 */
export async function ensureCluster(home: Home, programs: string, durable: boolean): Promise<boolean> {
  const cluster = getClusterPath(home);
  if (existsSync(cluster)) return false;

  const staging = mkdtempSync(join(home.path, 'initdb-'));
  try {
    const data = join(staging, 'data');
    const passwordFile = join(staging, 'password');
    writeFileSync(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flush: true });
    if ('uid' in home.account) {
      chownSync(staging, home.account.uid, home.account.gid);
      chownSync(passwordFile, home.account.uid, home.account.gid);
    }
    await initdb(home, programs, [
      `--pgdata=${data}`,
      `--username=${SUPERUSER}`,
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(durable ? [] : ['--no-sync']),
    ]);
    renameSync(passwordFile, join(data, PASSWORD_FILE));
    renameSync(data, cluster);
    if (durable && process.platform !== 'win32') syncDirectories(cluster, home.path);
    return true;
  } catch (error) {
    // Another process created it first.
    if (hasCode(error, 'EEXIST', 'ENOTEMPTY', 'EPERM') && existsSync(cluster)) return false;
    throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function initdb(home: Home, programs: string, args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(join(programs, 'bin', 'initdb'), args, {
      ...home.account,
      cwd: '/',
      env: programEnvironment(),
    });
  } catch (error) {
    // The program exists, but its dynamic loader does not, as on a system with musl.
    if (hasCode(error, 'ENOENT'))
      throw new EmbeddedError(
        'DATABASE_URL: the packaged PostgreSQL cannot run on this system (it needs glibc): set it to a PostgreSQL server.',
      );
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    const reason = findReason(output);
    throw new EmbeddedError(
      reason.endsWith('Permission denied')
        ? describeUnusable(home, reason)
        : `DATA_DIR: PostgreSQL cannot create its data directory in ${home.path}: ${reason}`,
    );
  }
}

/** Returns the line of a PostgreSQL program's output with the reason of its failure, and its detail. */
export function findReason(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const index = lines.findLastIndex((line) => /FATAL|PANIC|error:/.test(line));
  const reason = (lines.at(index) ?? 'no output').replace(/^.*?(FATAL|PANIC|error): +/, '');
  const [, detail] = /DETAIL: +(.*)/.exec(index === -1 ? '' : (lines[index + 1] ?? '')) ?? [];
  return detail === undefined ? reason : `${reason}: ${detail}`;
}

function syncDirectories(...directories: readonly string[]): void {
  for (const directory of directories) {
    const fd = openSync(directory, 'r');
    fsyncSync(fd);
    closeSync(fd);
  }
}
