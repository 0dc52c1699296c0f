import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { audit, type Findings } from './ledger.ts';
import { startLoad, type Load, type Sample } from './load.ts';
import { note } from './table.ts';

/** How long after its end a fault may still be felt, by the promise. */
export const RECOVERY_MS_MAX = 2000;

export type Result = Findings & {
  readonly load: Load;
  readonly unavailable: readonly Sample[];
  readonly broken: readonly Sample[];
  /** The end of the last request that failed, after the fault had ended; 0 where none did. */
  readonly recoveryMs: number;
  readonly slowestMs: number;
};

type Fault = {
  /** Resolves when the fault is over: what was stopped is back. */
  readonly inject: (load: Load) => Promise<void>;
};

/**
 * Puts the cluster under load, lets the fault happen, waits until it goes on, and holds it to what holds under any
 * fault: nothing acknowledged is lost, doubled or half there, and no answer is one that nobody may get.
 */
export async function underLoad(cluster: Cluster, name: string, { inject }: Fault): Promise<Result> {
  const load = await startLoad(cluster);
  await load.goOn();
  await inject(load);
  const endedAt = performance.now();
  // So long that a failure which comes late would be seen.
  await load.during(RECOVERY_MS_MAX);
  await load.goOn();
  await load.stop();

  const { samples } = load;
  const having = (outcome: Sample['outcome']) => samples.filter((sample) => sample.outcome === outcome);
  const [unavailable, broken, wrong] = [having('unavailable'), having('broken'), having('wrong')];
  const failed = [...unavailable, ...broken, ...wrong];
  const findings = await audit(cluster, load.ledger);
  const result = {
    ...findings,
    load,
    unavailable,
    broken,
    recoveryMs: Math.max(0, ...failed.map((sample) => sample.endedAt - endedAt)),
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
