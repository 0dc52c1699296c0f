import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Answer } from '../support/client.ts';
import { BROKEN } from './balancer.ts';
import type { Cluster } from './cluster.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { lifeOf, type Call } from './operations.ts';

/** How an answer is: as expected, a 503 that says when to come again, broken off, or one that nobody may get. */
export type Outcome = 'ok' | 'unavailable' | 'broken' | 'wrong';

export type Sample = {
  readonly lane: number;
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
  /** What came instead. */
  readonly got?: string;
};

export type Load = Awaited<ReturnType<typeof startLoad>>;

export type LoadOptions = { readonly workers?: number; readonly pauseMs?: number };

/** Steady mixed load through the balancer: each worker is an account of its own, and knows what it has to be answered. */
export async function startLoad(cluster: Cluster, { workers = 8, pauseMs = 20 }: LoadOptions = {}) {
  const client = createClient(cluster.balancer.port, undefined);
  const ledger: Ledger = createLedger();
  const samples: Sample[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;

  const callOf =
    (lane: number): Call =>
    async (operation, send, expected) => {
      const startedAt = performance.now();
      const answer = await send();
      const isExpected = expected(answer);
      const outcome = isExpected ? 'ok' : outcomeOf(answer);
      const endedAt = performance.now();
      samples.push({
        lane,
        operation,
        startedAt,
        endedAt,
        outcome,
        ...(isExpected ? {} : { got: `${answer.status} ${answer.text.slice(0, 300)}` }),
      });
      for (const look of waiting) look();
      return isExpected ? answer : undefined;
    };

  const lives = await cluster.make((factories) =>
    Promise.all(
      Array.from({ length: workers }, (_, lane) => lifeOf({ factories, client, call: callOf(lane), ledger, lane })),
    ),
  );

  const running = Promise.all(
    lives.map(async (steps) => {
      for (let turn = 0; !isOver; turn += 1) {
        await steps[turn % steps.length]?.();
        await sleep(pauseMs);
      }
    }),
  );

  return {
    ledger,
    samples,
    /** Resolves after so many more requests have been answered as expected. */
    goOn(count = 60): Promise<void> {
      const from = samples.length;
      const enough = () => samples.slice(from).filter(({ outcome }) => outcome === 'ok').length >= count;
      return new Promise((resolve) => {
        const look = () => {
          if (!enough()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      });
    },
    during: (ms: number): Promise<void> => sleep(ms),
    async stop(): Promise<void> {
      isOver = true;
      await running;
      client.close();
    },
  };
}

function outcomeOf({ status, headers, body }: Answer): Outcome {
  if (headers[BROKEN] !== undefined) return 'broken';
  const isProblem = headers['content-type']?.startsWith('application/problem+json') === true;
  const saysWhen = Number(headers['retry-after']) > 0;
  return status === 503 && isProblem && saysWhen && body.code === 'service_unavailable' ? 'unavailable' : 'wrong';
}
