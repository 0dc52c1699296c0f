import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { numberEvents } from '../../src/events/chain/append.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { readFeed } from '../../src/events/feed/read.ts';
import { inChange } from '../support/in-change.ts';
import { startSequencer } from '../../src/events/sequencer.ts';
import { startApi, type Api } from '../support/api.ts';
import { randomOf, type Random } from '../support/random.ts';

const WRITERS = 4;
const TRANSACTIONS = 600;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Commits late and out of order, one transaction in ten not at all. @returns how many events were committed */
async function write({ services }: Api, writer: number, random: Random): Promise<number> {
  let committed = 0;
  const open: Promise<unknown>[] = [];
  for (let i = 0; i < TRANSACTIONS; i += 1) {
    const size = 1 + random(3);
    const isKept = random(10) > 0;
    const openMs = random(50) === 0 ? 500 : random(12);
    const transaction = inChange(services.db, async ({ record, run }) => {
      for (let n = 0; n < size; n += 1) record('team.updated', { teamId: `team_of_${writer}` });
      await run([]);
      await sleep(openMs);
      if (!isKept) throw new Error('rolled back');
    });
    open.push(transaction.catch(() => undefined));
    if (isKept) committed += size;
    if (open.length === 2) await open.shift();
  }
  await Promise.all(open);
  return committed;
}

// Guarantees the feed’s promise: nothing missing, nothing twice, the same order for everybody.
test('a consumer that is killed at random sees each event of four writers once and in order, while workers are killed', async () => {
  const api = await startApi();
  const other = await startApi({}, { databaseUrl: api.databaseUrl });
  onTestFinished(async () => {
    await other.close();
    await api.close();
  });
  const sequencers = [startSequencer(api.services, log), startSequencer(other.services, log)];
  onTestFinished(() => Promise.all(sequencers.map((sequencer) => sequencer.stop())).then(() => undefined));
  const { db, encryption } = api.services;
  let isWriting = true;

  const killer = (async () => {
    const random = randomOf('killer');
    let killed = 0;
    for (; isWriting; await sleep(100 + random(200))) {
      const rows = await api.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name like '% events' and datname = current_database()`,
      );
      killed += rows.length;
    }
    return killed;
  })();

  // The consumer stores what it has seen together with its cursor; a kill loses what came since.
  const stored: { cursor: string | undefined; seen: string[] } = { cursor: undefined, seen: [] };
  let kills = 0;
  const random = randomOf('consumer');
  const consume = async () => {
    let { cursor } = stored;
    let unsaved: string[] = [];
    for (;;) {
      const page = await readFeed(db, encryption, { kind: 'operator' }, { after: cursor, limit: 1 + random(100) });
      unsaved.push(...page.events.map(({ id }) => id));
      ({ cursor } = page);
      if (isWriting && random(4) === 0) return void (kills += 1);
      if (random(2) === 0 || !page.hasMore) {
        Object.assign(stored, { cursor, seen: [...stored.seen, ...unsaved] });
        unsaved = [];
        if (!page.hasMore) return;
      }
    }
  };
  const consumer = (async () => {
    for (; isWriting; await sleep(random(20))) await consume();
  })();

  const counts = await Promise.all(
    Array.from({ length: WRITERS }, (_, i) => write(i % 2 ? api : other, i, randomOf(`writer ${i}`))),
  );
  isWriting = false;
  const killed = await killer;
  await consumer;
  while ((await numberEvents(api.services, log)).outcome === 'more') await sleep(10);
  await consume();

  const order = await api.rows<{ id: string; sequence: string }>(
    'select event_id as id, sequence from audit_link order by sequence',
  );
  expect(order.map(({ sequence }) => Number(sequence))).toEqual(order.map((_, i) => i + 1));
  expect(stored.seen).toEqual(order.map(({ id }) => id));
  expect(stored.seen).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
  expect(stored.seen.length).toBeGreaterThan(2000);
  expect(Math.min(killed, kills)).toBeGreaterThan(0);
  expect((await verifyAudit(api.services)).faults).toEqual([]);
}, 120_000);
