import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';

/** What else opens files: connections of the job worker, to Redis, mail servers and webhooks, look-ups of host names. */
const OTHER_FILES = 60;
const CONNECTIONS_MIN = 8;

/**
 * Bounds the connections of a server, each of which is a file, by the limit of open files: more are closed at once, so
 * that the service keeps files for its database. Without `/proc` there is no bound.
 * @param databaseConnections how many connections to the database can be opened later
 */
export function limitConnections(server: Server, databaseConnections: number): void {
  const limit = readFileLimit();
  if (limit === undefined) return;
  const open = readdirSync('/proc/self/fd').length;
  server.maxConnections = Math.max(CONNECTIONS_MIN, limit - open - databaseConnections - OTHER_FILES);
}

/** Returns how many files this process can open, or undefined if that is unlimited or unknown. */
function readFileLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
