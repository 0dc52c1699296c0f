import { TRPCClientError } from '@trpc/client';
import type { AppRouter } from '#client/router';
import { toFailure, type Failure } from '../../../trpc.ts';
import { findUnanswered } from '../../../unanswered.ts';

/** How many transactions of one account the service runs at a time; more would wait there. */
const PARALLEL = 2;

export type Outcome =
  | { readonly state: 'waiting' | 'running' | 'done' }
  /** Without an answer it is unknown whether the service did it. */
  | { readonly state: 'failed' | 'unknown'; readonly failure: Failure };

/** Failures that concern every row: the rest is not started. */
const FATAL: ReadonlySet<Failure['code']> = new Set<Failure['code']>([
  null,
  'credential_missing',
  'credential_invalid',
  'session_required',
  'account_changed',
  'proof_required',
  'team_not_found',
]);

type Run<Row> = {
  readonly rows: readonly Row[];
  readonly call: (row: Row) => Promise<unknown>;
  readonly onOutcome: (row: Row, outcome: Outcome) => void;
  /** Called every second with the seconds that are left when the rate limit is reached, and with 0 afterwards. */
  readonly onWait: (seconds: number) => void;
  readonly signal: AbortSignal;
};

/** Makes one call for each row. @returns the failure because of which the rest was not started */
export async function runBulk<Row>(run: Run<Row>): Promise<Failure | undefined> {
  const { rows, onOutcome, signal } = run;
  const rest = [...rows];
  let fatal: Failure | undefined;
  const gate = createGate(run);
  const work = async (): Promise<void> => {
    while (fatal === undefined && !signal.aborted) {
      const row = rest.shift();
      if (row === undefined) return;
      const outcome = await runOne(row, run, gate);
      onOutcome(row, outcome);
      if ('failure' in outcome && FATAL.has(outcome.failure.code)) fatal ??= outcome.failure;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return fatal;
}

async function runOne<Row>(row: Row, { call, onOutcome, signal }: Run<Row>, gate: Gate): Promise<Outcome> {
  for (;;) {
    await gate.opened();
    if (signal.aborted) return { state: 'waiting' };
    onOutcome(row, { state: 'running' });
    try {
      await call(row);
      return { state: 'done' };
    } catch (error) {
      const failure = toFailure(error);
      if (failure.code !== 'rate_limited')
        return { state: findUnanswered(error) === 'change' && failure.code === null ? 'unknown' : 'failed', failure };
      onOutcome(row, { state: 'waiting' });
      gate.close(Math.ceil(waitOf(error) ?? 1));
    }
  }
}

const waitOf = (error: unknown): number | undefined =>
  error instanceof TRPCClientError ? (error as TRPCClientError<AppRouter>).data?.problem.retryAfter : undefined;

type Gate = { readonly opened: () => Promise<void>; readonly close: (seconds: number) => void };

/** The rate limit concerns all calls: while one waits for it, no other is made. */
function createGate<Row>({ onWait, signal }: Run<Row>): Gate {
  let waiting: Promise<void> | undefined;
  const countDown = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0 && !signal.aborted; left -= 1) {
      onWait(left);
      await pause(1000, signal);
    }
    onWait(0);
    waiting = undefined;
  };
  return {
    opened: async () => waiting,
    close: (seconds) => {
      waiting ??= countDown(seconds);
    },
  };
}

/** Waits, or until the run is stopped. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
