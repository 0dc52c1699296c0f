import { join } from 'node:path';
import type { Home } from './home.ts';

/** Returns whether an SQLSTATE reports corrupted or missing files of the server. */
export const isDamage = (code: string): boolean => /^(XX00[12]|58P0[12]|58030)$/.test(code);

/**
 * Fatal messages of a server that does not start, because files below its data directory are missing, shortened or
 * overwritten. The version of pg_control is compared after that of PG_VERSION, so another one is no upgrade.
 */
const DAMAGE = new RegExp(
  [
    'is not a valid data directory',
    'pg_control|PG_CONTROL_VERSION|control file',
    'checkpoint record|redo location|required WAL directory',
    'could not access status of transaction',
    'could not (open|read|access|stat) (file|directory) "[^"]*": (No such file|read \\d+ of)',
    'invalid (data|page|magic number|record)',
  ].join('|'),
);

const NO_DAMAGE = /Permission denied|No space left|Read-only file system|Too many open files|Cannot allocate/;

/** Returns whether a server did not start because of its files. Its configuration and this machine are other reasons. */
const isDamageReason = (reason: string): boolean => DAMAGE.test(reason) && !NO_DAMAGE.test(reason);

/** As root, a copied directory has other owners than PostgreSQL accepts, and a closed one keeps its account out. */
const NO_ACCESS = /(file|directory)\b.*Permission denied|wrong ownership|invalid permissions/;

/** Explains why a server of a data directory does not start. @returns the line for the operator */
export function describeFailure(reason: string, home: Home, cluster: string): string {
  if (isDamageReason(reason)) return describeDamage(reason);
  if (NO_ACCESS.test(reason) && process.getuid !== undefined) {
    const { uid, gid } = { uid: process.getuid(), gid: process.getgid?.(), ...home.account };
    return `DATA_DIR: PostgreSQL, which runs as the user ${uid}, cannot use its files: run \`chown -R ${uid}:${gid} ${home.path} && chmod 700 ${cluster}\` (${reason})`;
  }
  return /lock file|postmaster\.pid/.test(reason)
    ? describePidFile(cluster, reason)
    : `DATA_DIR: the embedded PostgreSQL in ${cluster} does not start: ${reason}`;
}

/** Only the operator knows that no server of another machine or container uses the directory. */
export const describePidFile = (cluster: string, reason: string): string =>
  `DATA_DIR: ${join(cluster, 'postmaster.pid')} is damaged: delete it, if no other PostgreSQL uses this directory (${reason})`;

/** The files of a server are damaged, which only a backup repairs. @returns the line for the operator */
export const describeDamage = (reason: string): string =>
  `DATA_DIR: the files of the embedded PostgreSQL are damaged: restore a backup (${reason})`;
