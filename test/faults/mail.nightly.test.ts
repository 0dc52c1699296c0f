import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type Cluster } from './cluster.ts';
import { auditMails, mailsLeave } from './ledger.ts';
import type { Load } from './load.ts';
import { printTable } from './table.ts';
import { underLoad } from './under-load.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster.close());

printTable();

// Guarantees that a slow mail server delays only emails, and that each is sent once.
describe('while the mail server', () => {
  test('takes a second for each email, requests are answered as usual', async () => {
    const { mail } = cluster;
    const slow = () => sleep(1000);
    await expectNoneFelt('a slow mail server', async (load) => {
      mail.answerWith(...Array.from({ length: 16 }, () => slow));
      await load.goOn(300);
    });
  });

  test('is unavailable, requests are answered as usual', async () => {
    const { mail } = cluster;
    await expectNoneFelt('a dead mail server', async (load) => {
      await mail.close();
      await load.goOn(300);
      await mail.reopen();
    });
  });
});

async function expectNoneFelt(name: string, inject: (load: Load) => Promise<void>): Promise<void> {
  const { unavailable, broken, load } = await underLoad(cluster, name, { inject });
  await mailsLeave(cluster);

  expect([unavailable, broken]).toEqual([[], []]);
  expect(load.ledger.invitations.acknowledged.size).toBeGreaterThan(10);
  expect(await auditMails(cluster, load.ledger)).toEqual({ missing: [], repeated: [], stray: [] });
  expect(cluster.replicas.flatMap((replica) => replica.faults())).toEqual([]);
}
