import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { audit, type Findings } from './ledger.ts';
import { startLoad, type Load, type LoadOptions, type Sample } from './load.ts';
import { note } from './table.ts';

/** How long after its end a fault may still be felt, by the promise. */
export const RECOVERY_MS_MAX = 2000;

export type Result = Findings & {
  readonly load: Load;
  readonly unavailable: readonly Sample[];
  readonly broken: readonly Sample[];
  /** How long after the end of the fault it took until every worker was served again, and no request failed any more. */
  readonly recoveryMs: number;
  readonly slowestMs: number;
};

type Fault = LoadOptions & {
  /** How long a failure that comes late is waited for. */
  readonly lookFor?: number;
  /** Resolves when the fault is over: what was stopped is back. */
  readonly inject: (load: Load) => Promise<void>;
};

/**
 * Puts the cluster under load, lets the fault happen, waits until it goes on, and holds it to what holds under any
 * fault: nothing acknowledged is lost, doubled or half there, and no answer is one that nobody may get.
 */
export async function underLoad(
  cluster: Cluster,
  name: string,
  { inject, lookFor = 1000, ...options }: Fault,
): Promise<Result> {
  const load = await startLoad(cluster, options);
  const { samples } = load;
  let endedAt: number;
  try {
    await load.goOn();
    await inject(load);
    endedAt = performance.now();
    await load.during(lookFor);
    await load.goOn();
  } finally {
    await load.stop();
  }

  const having = (outcome: Sample['outcome']) => samples.filter((sample) => sample.outcome === outcome);
  const [unavailable, broken, wrong] = [having('unavailable'), having('broken'), having('wrong')];
  const failed = [...unavailable, ...broken, ...wrong];
  const findings = await audit(cluster, load.ledger);
  const result = {
    ...findings,
    load,
    unavailable,
    broken,
    recoveryMs: Math.max(...[...failed, ...firstServed(samples, endedAt)].map((sample) => sample.endedAt - endedAt)),
    slowestMs: Math.max(...samples.map((sample) => sample.endedAt - sample.startedAt)),
  };
  note({
    fault: name,
    requests: samples.length,
    lost: findings.lost.length,
    duplicated: findings.duplicated.length,
    failed: failed.length,
    recoveryMs: Math.round(result.recoveryMs),
  });
  expect(wrong).toEqual([]);
  expect(findings).toEqual({ lost: [], duplicated: [], torn: [] });
  return result;
}

/** The first answer of each worker that it could use, of those that came after a moment. */
function firstServed(samples: readonly Sample[], since: number): Sample[] {
  const served = samples.filter(({ outcome, endedAt }) => outcome === 'ok' && endedAt > since);
  return [...new Map(served.toReversed().map((sample) => [sample.lane, sample])).values()];
}
