import type { Pool } from 'pg';
import { createPool } from '../db/connection/connection.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { SECOND_MS } from '../time.ts';
import { numberEvents } from './chain/append.ts';
import type { NumberingServices } from './chain/checkpoints.ts';
import { emitNumbered, onEventRecorded } from './wake.ts';

export type Sequencer = { stop(): Promise<void> };

/** Events that are recorded within this time of a run are numbered together. */
const INTERVAL_MS = 50;
/** Finds events of other processes, such as commands, and retries after a failure. */
const POLL_MS = SECOND_MS;
const CLOSE_MS = 2 * SECOND_MS;

/**
 * Numbers events as soon as they are committed: at once after a pause, and at most every 50 ms under load. Every
 * process runs it, and an advisory lock lets one of them work at a time. It has a connection of its own, so that
 * requests that use up the pool do not delay it.
 */
export function startSequencer(services: NumberingServices, log: Log): Sequencer {
  const pool = openPool(services, log);
  let [isRunning, isRequested, isStopped, isFailing] = [false, false, false, false];
  let lastSequence = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const wake = () => {
    isRequested = true;
    if (!isRunning && timer === undefined && !isStopped) start();
  };

  const start = () => {
    isRunning = true;
    isRequested = false;
    running = run().finally(() => {
      isRunning = false;
      if (isStopped) return;
      timer = setTimeout(() => {
        timer = undefined;
        if (isRequested) start();
      }, INTERVAL_MS).unref();
    });
  };

  async function run(): Promise<void> {
    try {
      const { end, outcome } = await numberEvents(services, log, pool);
      if (outcome === 'more') isRequested = true;
      // Also where another process numbered them.
      if (end === null || end.sequence !== lastSequence) emitNumbered(services.db);
      lastSequence = end?.sequence ?? lastSequence;
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ reason: errorSummary(error) }, 'events could not be numbered; it will be tried again');
      isFailing = true;
    }
  }

  const poll = setInterval(wake, POLL_MS).unref();
  const stopListening = onEventRecorded(services.db, wake);
  return {
    async stop() {
      isStopped = true;
      stopListening();
      clearInterval(poll);
      clearTimeout(timer);
      await running;
      const closed = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([pool.end(), closed]);
    },
  };
}

function openPool({ db }: NumberingServices, log: Log): Pool {
  const pool = createPool(db.url, { purpose: 'events', connectMs: 2000, statementMs: 5000, pipeline: true, max: 1 });
  pool.on('error', (error) => log.warn({ reason: errorSummary(error) }, 'events database connection lost'));
  return pool;
}
