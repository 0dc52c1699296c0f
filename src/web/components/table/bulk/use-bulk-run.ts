import { useEffect, useRef, useState } from 'react';
import type { Failure } from '../../../trpc.ts';
import { runBulk, type Outcome } from './run.ts';

/** Runs an action on rows and keeps the outcome of each. Leaving the page starts no further call. */
export function useBulkRun<Row>(rowId: (row: Row) => string, call: (row: Row) => Promise<unknown>) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const [waitSeconds, setWait] = useState(0);
  const [fatal, setFatal] = useState<Failure>();
  const stopping = useRef<AbortController>(undefined);
  const stop = () => stopping.current?.abort();
  useEffect(() => stop, []);

  /** @returns the failure because of which the rest was not started */
  const start = async (rows: readonly Row[]): Promise<Failure | undefined> => {
    const { signal } = (stopping.current = new AbortController());
    setFatal(undefined);
    setRunning(true);
    const set = (row: Row, outcome: Outcome) => setOutcomes((current) => new Map(current).set(rowId(row), outcome));
    for (const row of rows) set(row, { state: 'waiting' });
    const failure = await runBulk({ rows, call, onOutcome: set, onWait: setWait, signal });
    setFatal(failure);
    setRunning(false);
    return failure;
  };
  return { outcomes, isRunning, waitSeconds, fatal, start, stop };
}
