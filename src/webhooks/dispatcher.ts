import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../app-services.ts';
import { query } from '../db/query.ts';
import { onEventsNumbered } from '../events/wake.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { SECOND_MS } from '../time.ts';
import { attemptDelivery, type Result } from './attempt.ts';
import { claimDeliveries, recoverStopped, SLOW_SECONDS, type Claim } from './claim.ts';
import { fanOut } from './fan-out.ts';
import { networkOf } from './endpoint-network.ts';
import { noteResults } from './note.ts';

/**
 * Requests that began less than `SLOW_MS` ago, at a time. Slower ones count towards `SLOW_MAX` instead, so that
 * receivers that hang do not delay those that answer.
 */
const FAST_MAX = 256;
const SLOW_MAX = 512;
const SLOW_MS = SLOW_SECONDS * SECOND_MS;

const POLL_MS = SECOND_MS;
const ERROR_MS = 5 * SECOND_MS;
/** How long a shutdown waits for answers before it aborts the requests. */
const FINISH_MS = 3 * SECOND_MS;

export type Dispatcher = {
  stop(): Promise<void>;
};

/** How attempts end, for metrics. */
export type Outcome = 'delivered' | 'failed' | 'retried' | 'skipped';

const outlook = query<{ is_behind: boolean | null; is_due: boolean | null }>(
  'webhook_outlook',
  `select
     (select max(sequence) from audit_link) > (select sequence from webhook_cursor where id = 1) as is_behind,
     (select min(due_at) from webhook_delivery where state in ('waiting', 'sending')) <= now() as is_due`,
);

/**
 * Delivers webhooks until it is stopped. Any number of processes can run one. Uses one database connection at a time:
 * a round notes the results since the last one, creates deliveries of new events, and claims what is due.
 */
export function startDispatcher(services: Services, log: Log, onOutcome?: (outcome: Outcome) => void): Dispatcher {
  const { db, encryption, config } = services;
  const aborting = new AbortController();
  const sender = { encryption, signal: aborting.signal, network: (claim: Claim) => networkOf(config, claim.team_id) };
  const running = new Set<Promise<void>>();
  let [fast, slow] = [0, 0];
  let results: Result[] = [];
  let isStopping = false;
  let waking = Promise.withResolvers<void>();
  const wake = () => waking.resolve();

  async function send(claim: Claim): Promise<void> {
    fast += 1;
    let isSlow = false;
    const timer = setTimeout(() => {
      if (slow >= SLOW_MAX) return;
      [fast, slow, isSlow] = [fast - 1, slow + 1, true];
      wake();
    }, SLOW_MS);
    const result = await attemptDelivery(claim, sender);
    clearTimeout(timer);
    if (isSlow) slow -= 1;
    else fast -= 1;
    results.push(result);
    onOutcome?.(result.state === 'waiting' ? 'retried' : result.state);
    wake();
  }

  async function note(): Promise<void> {
    const noted = results;
    results = [];
    if (noted.length === 0) return;
    try {
      await noteResults(db, noted);
    } catch (error) {
      results.unshift(...noted);
      throw error;
    }
  }

  /** @returns whether the next round can find more at once */
  async function runRound(): Promise<boolean> {
    await note();
    if (isStopping) return false;
    const [found] = await db.query(outlook, []);
    const hasMore = found?.is_behind === true && (await fanOut(db));
    if (found?.is_behind !== true && found?.is_due !== true) return false;
    await recoverStopped(db);
    const free = FAST_MAX - fast;
    const claims = free > 0 ? await claimDeliveries(db, free) : [];
    for (const claim of claims) {
      const sent = send(claim).finally(() => running.delete(sent));
      running.add(sent);
    }
    return hasMore || claims.length > 0;
  }

  async function keepRunning(): Promise<void> {
    while (!isStopping) {
      waking = Promise.withResolvers();
      const delayMs = await runRound().then(
        (hasMore) => (hasMore ? 0 : POLL_MS),
        (error: unknown) => {
          log.warn({ reason: errorSummary(error) }, 'webhooks were not delivered; they will be tried again');
          return ERROR_MS;
        },
      );
      const timer = setTimeout(wake, delayMs);
      // After an error, results do not shorten the pause.
      if (delayMs === ERROR_MS) await Promise.race([sleep(ERROR_MS, undefined, { ref: false }), stopped.promise]);
      else await waking.promise;
      clearTimeout(timer);
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
    const abort = setTimeout(() => aborting.abort(), FINISH_MS);
    await Promise.all(running);
    clearTimeout(abort);
    await note().catch((error: unknown) =>
      log.warn({ reason: errorSummary(error) }, 'results of webhooks were not noted; they will be sent again'),
    );
  }

  let stop_: Promise<void> | undefined;
  return { stop: () => (stop_ ??= stop()) };
}
