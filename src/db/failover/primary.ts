import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseHost as Server } from '../../config/database-url.ts';

/** A server that accepts no writes: a standby, or one that was made read-only. `code` is the SQLSTATE of such writes. */
export class ReadOnlyServerError extends Error {
  readonly code = '25006';

  constructor({ host, port }: Server) {
    super(`PostgreSQL at ${host}:${port} is read-only`);
  }
}

/** A server on an older timeline than one seen before: a former primary that does not know it yet. */
class FormerPrimaryError extends ReadOnlyServerError {
  constructor(server: Server, found: number, seen: number) {
    super(server);
    this.message = `PostgreSQL at ${server.host}:${server.port} is on timeline ${found}, but ${seen} was seen before`;
  }
}

export type PrimaryLocator = {
  /** Returns the server that accepts writes; searches for it only after a doubt. */
  readonly locate: () => Promise<Server>;
  /** Lets the next `locate` search, because a connection failed. */
  readonly doubt: () => void;
};

type Options = {
  /** Connects to a server. @returns its timeline, which grows with each failover @throws if it does not accept writes */
  readonly probe: (server: Server) => Promise<number>;
  /** Called when another server than before is the primary. */
  readonly onMove: (primary: Server) => void;
};

/** Interval of the questions to a server that is not the primary. */
const RETRY_MS = 100;

/**
 * Finds the primary among several servers. All are asked concurrently, so that one that does not respond delays
 * nothing, and at most once per interval, however many callers wait. A server on an older timeline than one seen before
 * is a former primary that does not know it yet. A single server is never searched for.
 */
export function createPrimaryLocator(servers: readonly [Server, ...Server[]], options: Options): PrimaryLocator {
  let primary: Server = servers[0];
  let timeline = 0;
  let isKnown = servers.length === 1;
  let search: Promise<Server> | undefined;

  async function probe(server: Server): Promise<void> {
    const found = await options.probe(server);
    if (found < timeline) throw new FormerPrimaryError(server, found, timeline);
    timeline = found;
  }

  async function searchOnce(): Promise<Server> {
    const found = await raceServers(servers, probe);
    const isMoved = found !== primary;
    [primary, isKnown] = [found, true];
    if (isMoved) options.onMove(found);
    return found;
  }

  return {
    locate() {
      if (isKnown) return Promise.resolve(primary);
      if (search === undefined) {
        search = searchOnce();
        search.then(
          () => (search = undefined),
          () => setTimeout(() => (search = undefined), RETRY_MS).unref(),
        );
      }
      return search;
    },
    doubt() {
      isKnown = servers.length === 1;
    },
  };
}

/** Returns the first server that passes the probe; rejects after each has failed it at least once. */
function raceServers(servers: readonly Server[], probe: (server: Server) => Promise<void>): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const failures = new Map<Server, unknown>();
  let isOver = false;

  async function keepProbing(server: Server): Promise<void> {
    while (!isOver) {
      try {
        await probe(server);
        isOver = true;
        return resolve(server);
      } catch (error) {
        failures.set(server, error);
      }
      if (failures.size === servers.length) {
        isOver = true;
        return reject(mostTelling([...failures.values()]));
      }
      await sleep(RETRY_MS);
    }
  }

  for (const server of servers) void keepProbing(server);
  return promise;
}

/** An error of a server that responds says more than one that cannot be reached; least says a standby. */
const mostTelling = (errors: readonly unknown[]): unknown =>
  errors.find((error) => error instanceof FormerPrimaryError) ??
  errors.find((error) => error instanceof pg.DatabaseError) ??
  errors.find((error) => !(error instanceof ReadOnlyServerError)) ??
  errors[0];
