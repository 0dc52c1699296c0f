import { channel } from 'node:diagnostics_channel';
import type { Pool } from 'pg';
import { checkReleases, isIdle, watchStatements } from '../pipeline/pg-internals.ts';

/** Why a connection is closed that was given back to its pool too early. Its stack says who gave it back. */
export class BusyConnectionError extends Error {
  override message = 'A connection was given back inside of a transaction, or before its last statement was answered.';
}

export type BusyRelease = {
  /** What the pool is for, such as `writes`. */
  readonly pool: string;
  /** The name of the last statement, or the first word of its text, which can contain values. */
  readonly statement: string;
  readonly error: BusyConnectionError;
};

/** The pools of all databases of the process. */
const releases = channel('roster:busy-release');

/** Calls `listener` for every connection that is closed because it was given back too early. @returns how to stop */
export function onBusyRelease(listener: (release: BusyRelease) => void): () => void {
  const onMessage = (message: unknown) => listener(message as BusyRelease); // only `keepOnlyIdle` publishes
  releases.subscribe(onMessage);
  return () => {
    releases.unsubscribe(onMessage);
  };
}

/**
 * Lets a pool keep only connections that are idle: outside of a transaction, with every statement answered. Whoever gets
 * another one would work inside of the transaction of somebody else, fail because that one failed (25P02), or wait for
 * a statement that never ends. Not every library that gives connections back says that it failed. @returns the pool
 */
export function keepOnlyIdle<P extends Pool>(pool: P, name: string): P {
  const lastStatement = watchStatements(pool);
  checkReleases(pool, (client) => {
    if (isIdle(client)) return undefined;
    const error = new BusyConnectionError();
    releases.publish({ pool: name, statement: lastStatement(client), error } satisfies BusyRelease);
    return error;
  });
  return pool;
}
