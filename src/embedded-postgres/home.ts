import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** The system account of the server's programs; empty for the account of this process. */
export type Account = { uid: number; gid: number } | Record<never, never>;

/** The embedded server cannot run for a reason outside this program. The message is one line. */
export class EmbeddedError extends Error {}

/** The directory of one embedded server, owned by its system account. */
export type Home = { path: string; account: Account };

const RELOCATED = '/var/lib/roster';

/** Creates `<dataDir>/postgres` for the server's system account. */
export function prepareHome(dataDir: string): Home {
  const location = join(dataDir, 'postgres');
  createDirectory(dataDir);
  const isRoot = process.getuid?.() === 0;
  if (!lstatSync(location, { throwIfNoEntry: false })) {
    if (isRoot) createHomeAsRoot(location, dataDir);
    else mkdirSync(location, { recursive: true, mode: 0o700 });
  }
  if (!statSync(location, { throwIfNoEntry: false })) {
    throw new EmbeddedError(
      `DATA_DIR: ${location} points to a directory that does not exist: restore it, or remove the link to start with an empty database.`,
    );
  }

  const path = realpathSync(location);
  return { path, account: isRoot ? ensureOwner(path) : {} };
}

/** Creates a directory and its parents. `recursive` of Node reports a read-only file system as a missing directory. */
function createDirectory(path: string): void {
  if (existsSync(path)) return;
  createDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error; // Another process created it.
  }
}

// Use the owner of the directory, so that root can open the database of another user.
function ensureOwner(path: string): Account {
  const { uid, gid } = statSync(path);
  if (uid !== 0) return { uid, gid };
  const account = findUnprivilegedAccount();
  chownSync(path, account.uid, account.gid);
  chmodSync(path, 0o700);
  return account;
}

/**
 * Creates the directory as root. The server cannot access a checkout below a private home directory; its database is
 * then in a directory of /var/lib/roster, where only root can create one, and `<dataDir>/postgres` links to it.
 */
function createHomeAsRoot(location: string, dataDir: string): void {
  if (canReach(findUnprivilegedAccount(), dataDir)) {
    mkdirSync(location, { recursive: true, mode: 0o700 });
    return;
  }
  mkdirSync(RELOCATED, { recursive: true, mode: 0o755 });
  const relocated = mkdtempSync(join(RELOCATED, 'postgres-'));
  try {
    symlinkSync(relocated, location);
  } catch (error) {
    rmSync(relocated, { recursive: true });
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** Finds a system account for the server, because PostgreSQL does not run as root. */
function findUnprivilegedAccount(): { uid: number; gid: number } {
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => {
      const { error, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
      if (hasCode(error, 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM')) throw error as Error;
      return stdout;
    });
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedError(
    'DATABASE_URL: PostgreSQL does not run as root and there is no user `postgres` or `nobody`: start as another user, or set it to a PostgreSQL server.',
  );
}

/** Returns whether the system account can execute the file or enter the directory. */
export function canReach(account: Account, path: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' }).status === 0;
}

/**
 * Explains why the system account cannot create files in its directory: root can enter every directory, and the account
 * cannot. @returns the line for the operator
 */
export function describeUnusable({ path, account }: Home, reason: string): string {
  if (!('uid' in account) || !reason.includes('Permission denied'))
    return `DATA_DIR: ${path} cannot be used: ${reason}`;
  const closed = listParents(path).find((parent) => !canReach(account, parent));
  const commands =
    closed === undefined ? `chown ${account.uid}:${account.gid} ${path} && chmod 700 ${path}` : `chmod o+x ${closed}`;
  return `DATA_DIR: PostgreSQL, which runs as the user ${account.uid}, cannot use ${closed ?? path}: run \`${commands}\``;
}

/** Returns the directories above a path, the root first. */
function listParents(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...listParents(parent), parent];
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
