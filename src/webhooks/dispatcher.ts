import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../service/services.ts';
import { createPool } from '../db/connection/connection.ts';
import { inTransaction } from '../events/chain/sql.ts';
import { onEventsNumbered } from '../events/wake.ts';
import type { Network } from '../outbound/network.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import { attemptDelivery, type Result } from './attempt.ts';
import { claimDeliveries, type Claim } from './claim.ts';
import { fanOut } from './fan-out.ts';
import { networkOf } from './endpoint-network.ts';
import { noteResults } from './note.ts';
import { recoverStopped, wakeForgotten } from './queue.ts';
import { createSlots } from './slots.ts';

/** Looks again after this time if a notification was lost, or if another process works at what is due. */
const POLL_MS = SECOND_MS;
const ERROR_MS = 5 * SECOND_MS;
const REPAIR_MS = MINUTE_MS / 4;
/** How long a shutdown waits for answers before it aborts the requests. */
const FINISH_MS = 3 * SECOND_MS;
const CLOSE_MS = 2 * SECOND_MS;
/** One notes results while the other claims. */
const CONNECTIONS = 2;

export type Dispatcher = {
  stop(): Promise<void>;
};

/** How attempts end, for metrics. */
export type Outcome = 'delivered' | 'failed' | 'retried' | 'skipped';

type Outlook = { is_behind: boolean | null; due_in_ms: number | null };

const OUTLOOK = `
  select
    (select max(sequence) from audit_link) > (select sequence from webhook_cursor where id = 1) as is_behind,
    (select extract(epoch from min(at) - now())::float8 * 1000 from (
       (select next_at as at from webhook_queue where not is_failing and next_at is not null order by next_at limit 1)
       union all
       (select next_at from webhook_queue where is_failing and next_at is not null order by next_at limit 1)) first
    ) as due_in_ms`;

/**
 * Delivers webhooks until it is stopped. Any number of processes can run one. A round notes the results since the last
 * one together, and creates deliveries of new events and claims what is due beside that. It runs when there are new
 * events, when a request ends, and when something becomes due. It has database connections of its own, so that it and
 * calls of the service do not wait for each other.
 * @param networkFor where a request can connect to
 */
export function startDispatcher(
  services: Services,
  log: Log,
  onOutcome?: (outcome: Outcome) => void,
  networkFor: (claim: Claim) => Network = ({ team_id: teamId }) => networkOf(services.config, teamId),
): Dispatcher {
  const { db, encryption } = services;
  const pool = openPool(services, log);
  const stopping = new AbortController();
  const sender = { encryption, stopping: stopping.signal, network: networkFor };
  const running = new Set<Promise<void>>();
  let results: Result[] = [];
  let isStopping = false;
  let repairedAt = -Infinity;
  let waking = Promise.withResolvers<void>();
  const wake = () => waking.resolve();
  const slots = createSlots(wake);

  async function send(claim: Claim): Promise<void> {
    const result = await slots.run(claim.is_failing, (signal) => attemptDelivery(claim, sender, signal));
    results.push(result);
    onOutcome?.(result.state === 'waiting' ? 'retried' : result.state);
    wake();
  }

  /** @returns whether there was something to note */
  async function note(): Promise<boolean> {
    const noted = results;
    results = [];
    if (noted.length === 0) return false;
    try {
      await noteResults(pool, db, noted);
      return true;
    } catch (error) {
      results.unshift(...noted);
      throw error;
    }
  }

  async function repair(): Promise<void> {
    if (performance.now() - repairedAt < REPAIR_MS) return;
    await inTransaction(pool, recoverStopped);
    await inTransaction(pool, wakeForgotten);
    repairedAt = performance.now();
  }

  /** @returns the time until something becomes due, as far as is known */
  async function claim(): Promise<number> {
    if (isStopping) return 0;
    await repair();
    const { rows } = await pool.query<Outlook>(OUTLOOK);
    const isBehind = rows[0]?.is_behind === true;
    const hasMore = isBehind && (await fanOut(pool));
    const dueInMs = isBehind ? 0 : (rows[0]?.due_in_ms ?? POLL_MS);
    if (dueInMs > 0) return Math.min(dueInMs + 1, POLL_MS);
    const free = slots.free();
    const claims = free.healthy + free.failing > 0 ? await claimDeliveries(pool, free) : [];
    for (const one of claims) {
      const sent = send(one).finally(() => running.delete(sent));
      running.add(sent);
    }
    return hasMore || claims.length > 0 ? 0 : POLL_MS;
  }

  async function runRound(): Promise<number> {
    const [noting, claiming] = await Promise.allSettled([note(), claim()]);
    if (noting.status === 'rejected') throw noting.reason;
    if (claiming.status === 'rejected') throw claiming.reason;
    return noting.value ? 0 : claiming.value;
  }

  async function keepRunning(): Promise<void> {
    while (!isStopping) {
      waking = Promise.withResolvers();
      const delayMs = await runRound().catch((error: unknown) => {
        log.warn({ reason: errorSummary(error) }, 'webhooks were not delivered; they will be tried again');
        return null;
      });
      // After an error, results do not shorten the pause.
      if (delayMs === null) await Promise.race([sleep(ERROR_MS, undefined, { ref: false }), stopped.promise]);
      else {
        const timer = setTimeout(wake, delayMs);
        await waking.promise;
        clearTimeout(timer);
      }
    }
  }

  const stopListening = onEventsNumbered(db, wake);
  const stopped = Promise.withResolvers<void>();
  const loop = keepRunning();

  async function stop(): Promise<void> {
    isStopping = true;
    stopListening();
    stopped.resolve();
    wake();
    await loop;
    const abort = setTimeout(() => stopping.abort(), FINISH_MS);
    await Promise.all(running);
    clearTimeout(abort);
    await note().catch((error: unknown) =>
      log.warn({ reason: errorSummary(error) }, 'results of webhooks were not noted; they will be sent again'),
    );
    await Promise.race([pool.end(), sleep(CLOSE_MS, undefined, { ref: false })]);
  }

  let stop_: Promise<void> | undefined;
  return { stop: () => (stop_ ??= stop()) };
}

function openPool({ db }: Services, log: Log) {
  const timeouts = { connectMs: 2000, statementMs: 5000, lockMs: 3000 };
  const pool = createPool(db.url, { purpose: 'webhooks', ...timeouts, pipeline: true, max: CONNECTIONS });
  pool.on('error', (error) => log.warn({ reason: errorSummary(error) }, 'webhooks database connection lost'));
  return pool;
}
