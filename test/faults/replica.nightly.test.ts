import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { preload, startCluster, type Cluster, type Replica } from './cluster.ts';
import { auditMails, mailsLeave, mailsOfCutOffLeave } from './ledger.ts';
import { printTable } from './table.ts';
import { underLoad } from './under-load.ts';

let cluster: Cluster;
let [one, two] = [undefined, undefined] as unknown as [Replica, Replica]; // set before all tests

beforeAll(async () => {
  cluster = await startCluster();
  [one, two] = cluster.replicas as [Replica, Replica];
});

afterAll(() => cluster.close());

printTable();

const seen = async (replica: Replica): Promise<void> => {
  await expect.poll(() => cluster.balancer.isReady(replica.port), { interval: 20 }).toBe(true);
};

describe('of two replicas', () => {
  test('one that is stopped fails no request', async () => {
    const { unavailable, broken } = await underLoad(cluster, 'SIGTERM of a replica', {
      async inject() {
        expect(await one.end('SIGTERM')).toEqual({ code: 0, signal: null });
      },
    });

    expect([unavailable, broken]).toEqual([[], []]);
    await one.start();
    await seen(one);
  });

  test('replacing one after another fails no request, and every email is sent once', async () => {
    const { unavailable, broken, load } = await underLoad(cluster, 'rolling restart', {
      async inject() {
        for (const replica of [one, two]) {
          await replica.end('SIGTERM');
          await replica.start();
          await seen(replica);
        }
      },
    });
    await mailsLeave(cluster);

    expect([unavailable, broken]).toEqual([[], []]);
    expect(await auditMails(cluster, load.ledger)).toEqual({ missing: [], repeated: [], stray: [] });
  });

  test('one that is killed breaks off what it was doing, and nothing else', async () => {
    const { unavailable, broken, load } = await underLoad(cluster, 'SIGKILL of a replica', {
      async inject(load) {
        // So that it is sending when it ends.
        cluster.mail.answerWith(...Array.from({ length: 20 }, () => () => sleep(300)));
        await load.goOn(100);
        await one.end('SIGKILL');
      },
    });
    await one.start();
    await seen(one);
    await mailsOfCutOffLeave(cluster);
    const mails = await auditMails(cluster, load.ledger);

    // Each worker of the load waits for one answer at a time.
    expect(broken.length).toBeLessThanOrEqual(8);
    expect(unavailable).toEqual([]);
    expect({ ...mails, repeated: [] }).toEqual({ missing: [], repeated: [], stray: [] });
    // Those that it was just sending.
    process.stdout.write(`\nmails sent twice after SIGKILL: ${mails.repeated.length}\n`);
    expect(mails.repeated.length).toBeLessThanOrEqual(4);
  });

  test('one whose clock is 2 s ahead fails no request', async () => {
    const shift = 2000;
    await two.end('SIGTERM');
    await two.start({ ...preload('clock'), CLOCK_SHIFT_MS: String(shift) });
    await seen(two);
    const { unavailable, broken } = await underLoad(cluster, 'a clock 2 s ahead', {
      inject: (load) => load.goOn(200),
    });

    expect([unavailable, broken]).toEqual([[], []]);
    expect(two.lines().some((line) => timeOf(line) > Date.now() + shift / 2)).toBe(true);
  });
});

/** When a line of the log says that it was written. */
const timeOf = (line: string): number => (line.startsWith('{') ? (JSON.parse(line) as { time: number }).time : 0);
