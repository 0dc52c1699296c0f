import cluster from 'node:cluster';
import { SECOND_MS } from '../time.ts';

export const SLOT_VARIABLE = 'ROSTER_WORKER';

/** Sent to each worker before its SIGTERM if all of them stop. */
export const STOP_MESSAGE = 'roster: stop';

/** Sent by a worker that ends alone, and to it once another one serves. */
export const LEAVE_MESSAGE = 'roster: leave';

/** Number of this worker, from 1; undefined in a service of one process. A replacement gets the number of its predecessor. */
export const workerSlot = (): number | undefined => (cluster.isWorker ? Number(process.env[SLOT_VARIABLE]) : undefined);

/** Returns whether this process is to run the jobs of the service: one process does, and after its death its replacement. */
export const runsJobs = (slot: number | undefined): boolean => slot === undefined || slot === 1;

/** Calls back if the whole service stops. A worker that only gets a signal ends alone, and stays ready meanwhile. */
export function onServiceStop(callback: () => void): void {
  if (cluster.isWorker) process.on('message', (message) => message === STOP_MESSAGE && callback());
}

/** The longest wait of `letOthersServe`: longer than the start of a replacement after the longest delay. */
const LEAVE_MS_MAX = 60 * SECOND_MS;

/**
 * Waits until another worker serves, before this one ends alone: the port would accept no connection, because the
 * workers are the only ones that listen. Of workers that end at the same time, one waits for the replacement of the other.
 */
export async function letOthersServe(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onMessage = (message: unknown) => {
    if (message === LEAVE_MESSAGE || message === STOP_MESSAGE) resolve();
  };
  const timer = setTimeout(resolve, LEAVE_MS_MAX);
  process.on('message', onMessage).once('disconnect', resolve);
  if (process.connected) process.send?.(LEAVE_MESSAGE, undefined, {}, (error) => error && resolve());
  else resolve();
  await promise;
  clearTimeout(timer);
  process.off('message', onMessage);
}
