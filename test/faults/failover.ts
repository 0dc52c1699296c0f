import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClusterOn, type Cluster } from './cluster.ts';
import { auditMails, mailsOfCutOffLeave } from './ledger.ts';
import type { Node } from './patroni-node.ts';
import { hasPatroni, startPatroni, type Patroni } from './patroni.ts';
import { printTable } from './table.ts';
import { underLoad } from './under-load.ts';

/** How long after the promotion of another server requests may still fail; the rest is for a busy machine. */

const REPAIR_AFTER_MS = 1000;

const FAULT_MS_MAX = 120_000;

/** Injects a fault into the leader of a cluster. @returns what repairs it */
export type Fault = (patroni: Patroni, leader: Node) => Promise<() => Promise<void> | void>;

/** A scheduled job that ran while there was no primary. */
const isOutage = (line: string): boolean =>
  line.includes('failed, next run on schedule') && !line.includes('The client closed the connection');

/** Guarantees that the workers have not become part of a request that noticed the failover. */
async function runCleanup({ rows }: Cluster): Promise<void> {
  for (let jobs = 0; jobs < 4; jobs += 1)
    await rows(`select graphile_worker.add_job('cleanup_sign_ups', max_attempts := 1, job_key := 'test ${jobs}')`);
  const waiting = () => rows(`select from graphile_worker.jobs where key like 'test %' and attempts = 0`);
  await expect.poll(waiting).toEqual([]);
  expect(
    await rows(
      `select last_error from graphile_worker.jobs where key like 'test %' and attempts = max_attempts and last_error is not null`,
    ),
  ).toEqual([]);
}

/**
 * Tests that two replicas of the service survive faults of a Patroni cluster: three nodes with synchronous replication.
 * @param faults what happens to the leader, with the name of its row in the table of faults
 */
export function testFailover(faults: readonly (readonly [title: string, name: string, inject: Fault])[]): void {
  describe.skipIf(!hasPatroni)('when the leader of a Patroni cluster', { timeout: FAULT_MS_MAX }, () => {
    let patroni: Patroni;
    let cluster: Cluster;

    beforeAll(async () => {
      patroni = await startPatroni();
      cluster = await startClusterOn(patroni);
    }, FAULT_MS_MAX);

    afterAll(() => cluster.close());

    printTable();

    test.each(faults)('%s, both replicas go on with the next one and have lost nothing', async (_, name, fault) => {
      await patroni.settle();
      const leader = await patroni.leader();
      let repaired: Promise<void> = Promise.resolve();
      const result = await underLoad(cluster, name, {
        lookFor: 4 * REPAIR_AFTER_MS,
        async inject() {
          const startedAt = performance.now();
          const repair = await fault(patroni, leader);
          const next = await patroni.promoted(leader);
          process.stdout.write(`${name}: ${next.name} leads after ${Math.round(performance.now() - startedAt)} ms\n`);
          // Under load as well, because a former leader does not know yet that it is one.
          repaired = sleep(REPAIR_AFTER_MS).then(repair);
        },
      });
      await repaired;
      await mailsOfCutOffLeave(cluster);
      await runCleanup(cluster);

      expect(result.unavailable.length).toBeGreaterThan(0);
      expect(result.broken).toEqual([]);
      expect(await auditMails(cluster, result.load.ledger)).toMatchObject({ missing: [], stray: [] });
      expect(cluster.replicas.flatMap((replica) => replica.faults()).filter((line) => !isOutage(line))).toEqual([]);
    });
  });
}
