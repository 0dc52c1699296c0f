import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';

/** The account that the server's programs run as; empty when that is our own. */
export type Account = { uid: number; gid: number } | Record<never, never>;

/** The embedded server cannot run for a reason outside this program. The message is one line. */
export class EmbeddedError extends Error {}

/** Where everything of one embedded server lives, owned by its account. */
export type Home = { path: string; account: Account };

const RELOCATED = '/var/lib/roster';

/** Makes `<dataDir>/postgres` ready for the server's account. */
export function prepareHome(dataDir: string): Home {
  const location = join(dataDir, 'postgres');
  mkdirSync(dataDir, { recursive: true });
  const isRoot = process.getuid?.() === 0;
  if (!lstatSync(location, { throwIfNoEntry: false })) {
    if (isRoot) makeHomeAsRoot(location, dataDir);
    else mkdirSync(location, { recursive: true, mode: 0o700 });
  }
  if (!statSync(location, { throwIfNoEntry: false })) {
    throw new EmbeddedError(
      `DATA_DIR: ${location} points to a directory that is gone: bring it back, or remove the link to begin with an empty database.`,
    );
  }

  const path = realpathSync(location);
  return { path, account: isRoot ? ownerOf(path) : {} };
}

// The directory's owner decides, so that root can use the database of a normal user.
function ownerOf(path: string): Account {
  const { uid, gid } = statSync(path);
  if (uid !== 0) return { uid, gid };
  const account = unprivilegedAccount();
  chownSync(path, account.uid, account.gid);
  chmodSync(path, 0o700);
  return account;
}

/**
 * A checkout below a private home directory is out of the server's reach. Its database then lives in a directory
 * of its own in /var/lib/roster, where only root can make one, and `<dataDir>/postgres` is a link to it.
 */
function makeHomeAsRoot(location: string, dataDir: string): void {
  if (canReach(unprivilegedAccount(), dataDir)) {
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

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(): { uid: number; gid: number } {
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout);
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedError(
    'DATABASE_URL: PostgreSQL does not run as root and there is no user `postgres` or `nobody`: start as another user, or name a PostgreSQL server.',
  );
}

/** Whether the account may execute the file, or enter the directory. */
export function canReach(account: Account, path: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' }).status === 0;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
