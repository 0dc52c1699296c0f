import { afterAll, beforeAll, expect, test } from 'vitest';
import { preload, startCluster, type Cluster, type Replica } from '../faults/cluster.ts';
import { audit } from '../faults/ledger.ts';
import { startLoad } from '../faults/load.ts';

/** Of load, between the two looks at the heap. */
const SECONDS = 300;

/** Until connections, prepared statements and one window of the rate limit are there. */
const WARM_UP_SECONDS = 10;

// Half of what is promised, so that the 5 minutes hold it too.
const GROWTH_MAX = 0.05;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ ...preload('heap'), RATE_WINDOW_SECONDS: '5' });
});

afterAll(() => cluster.close());

// Guarantees that a replica can run for good: what a request takes is given back.
test(`the heap does not grow in ${SECONDS} s of load`, { timeout: (SECONDS + 60) * 1000 }, async () => {
  const load = await startLoad(cluster, { pauseMs: 5 });
  await load.during(WARM_UP_SECONDS * 1000);
  const before = await Promise.all(cluster.replicas.map(heapOf));
  const count = load.samples.length;
  await load.during(SECONDS * 1000);
  const requests = load.samples.length - count;
  const after = await Promise.all(cluster.replicas.map(heapOf));
  await load.stop();

  const growth = after.map((bytes, replica) => bytes / (before[replica] ?? 0) - 1);
  process.stdout.write(`\nheap after ${requests} requests: ${growth.map(percent).join(', ')}\n`);
  expect(Math.max(...growth)).toBeLessThan(GROWTH_MAX);
  expect(load.samples.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
  expect(await audit(cluster, load.ledger)).toEqual({ lost: [], duplicated: [], torn: [] });
});

/** What a replica has in use after a collection. */
async function heapOf(replica: Replica): Promise<number> {
  const reports = () => replica.lines().filter((line) => line.startsWith('heap in use: '));
  const count = reports().length;
  replica.kill('SIGUSR2');
  await expect.poll(() => reports().length).toBeGreaterThan(count);
  return Number(reports().at(-1)?.split(': ')[1]);
}

const percent = (part: number): string => `${part < 0 ? '' : '+'}${(100 * part).toFixed(1)} %`;
