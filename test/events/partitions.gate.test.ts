import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { firstIdAt } from '../../src/entities/index.ts';
import { chainEvents } from '../../src/events/chain/append.ts';
import { pruneEvents } from '../../src/events/chain/retention.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { maintainPartitions } from '../../src/events/partitions.ts';
import { insertCollected, toEvent } from '../../src/events/record.ts';
import { startApi, type Api } from '../support/api.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const TODAY = new Date();
/** The tenth of a month after this one. */
const inMonths = (months: number) => Date.UTC(TODAY.getUTCFullYear(), TODAY.getUTCMonth() + months, 10);
const nameOf = (months: number) =>
  `audit_event_${new Date(inMonths(months)).toISOString().slice(0, 7).replace('-', '_')}`;

afterEach(() => {
  vi.useRealTimers();
});

async function aService(days = '30'): Promise<Api> {
  const api = await startApi({ AUDIT_DAYS: days });
  onTestFinished(() => api.close());
  // The run that made the database can have begun in the month before.
  await maintainPartitions(api.services, quiet, TODAY);
  return api;
}

/** Records an event at a later time, and gives it its position. */
async function recordAt({ services }: Api, time: number): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
  // Its own id, of exactly that time.
  const id = firstIdAt('evt', new Date(time));
  await insertCollected(services.db, [{ ...toEvent('account.profile_changed'), id }]);
  await chainEvents(services, quiet);
}

const countByPartition = async (api: Api) => {
  const rows = await api.rows<{ name: string; count: string }>(
    'select tableoid::regclass::text as name, count(*) from audit_event group by 1',
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, Number(count)]));
};

const partitionsOf = async (api: Api) =>
  (
    await api.rows<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_event'::regclass order by 1`,
    )
  ).map(({ name }) => name);

test('events are kept by the month in their id, those of a clock far ahead as well, and all can be verified', async () => {
  const api = await aService();
  for (const months of [0, 1, 2, 40]) await recordAt(api, inMonths(months));

  expect(await countByPartition(api)).toMatchObject({ [nameOf(1)]: 1, [nameOf(2)]: 1, audit_event_other: 1 });
  expect(await verifyAudit(api.services)).toMatchObject({ faults: [], pending: 0 });
  expect((await verifyAudit(api.services)).events).toBeGreaterThanOrEqual(4);
});

test('the partitions of three months exist ahead, and several processes can make them at once', async () => {
  const api = await aService('3650');
  const before = await partitionsOf(api);
  expect(before).toEqual(expect.arrayContaining([nameOf(1), nameOf(2), nameOf(3)]));
  const later = new Date(inMonths(5));

  await Promise.all(Array.from({ length: 4 }, () => maintainPartitions(api.services, quiet, later)));

  expect(await partitionsOf(api)).toEqual([...before, ...[5, 6, 7, 8].map(nameOf)].toSorted());
  expect((await verifyAudit(api.services)).faults).toEqual([]);
});

test('no partition lets its rows be changed or deleted, and a missing trigger of one is reported', async () => {
  const api = await aService();
  await recordAt(api, inMonths(1));
  for (const table of await partitionsOf(api)) {
    for (const sql of [`delete from ${table}`, `update ${table} set count = 2`, `truncate ${table}`])
      await expect(api.rows(sql)).rejects.toThrow('is append-only');
  }

  await api.rows(`drop trigger audit_event_append_only on ${nameOf(2)}`);
  await api.rows(`alter table ${nameOf(3)} disable trigger audit_event_append_only`);

  expect((await verifyAudit(api.services)).faults).toMatchObject([
    { kind: 'trigger_missing', trigger: `audit_event_append_only of ${nameOf(2)}` },
    { kind: 'trigger_disabled', trigger: `audit_event_append_only of ${nameOf(3)}` },
  ]);
});

test('retention drops the partition of a month that has left the chain, and what is left can be verified', async () => {
  const api = await aService();
  for (const months of [0, 1, 2, 3]) await recordAt(api, inMonths(months));
  // The event of the third month is 30 days old, that of the next one is not.
  const now = new Date(inMonths(2) + 31 * 86_400_000);
  vi.setSystemTime(now);

  await maintainPartitions(api.services, quiet, now);
  expect(await partitionsOf(api)).toContain(nameOf(1));
  expect(await pruneEvents(api.services, quiet, now)).toBeGreaterThanOrEqual(3);
  // That it pruned is an event of the latest month.
  expect(await countByPartition(api)).toMatchObject({ [nameOf(1)]: 1, [nameOf(2)]: 1, [nameOf(3)]: 2 });
  expect((await verifyAudit(api.services)).faults).toEqual([]);
  await maintainPartitions(api.services, quiet, now);

  const left = await partitionsOf(api);
  expect(left).not.toContain(nameOf(1));
  // Some days of it are not old enough.
  expect(left).toEqual(expect.arrayContaining(['audit_event_first', nameOf(2), nameOf(3)]));
  await chainEvents(api.services, quiet);
  expect(await verifyAudit(api.services)).toMatchObject({ faults: [], pending: 0 });
});

test('a month with an event that waits for its key is kept as evidence', async () => {
  const api = await aService();
  await recordAt(api, inMonths(1));
  await recordAt(api, inMonths(2));
  const [event] = await api.rows<{ id: string }>(`select id from ${nameOf(1)}`);
  const now = new Date(inMonths(4));
  vi.setSystemTime(now);
  await pruneEvents(api.services, quiet, now);
  await api.rows('insert into audit_pending values ($1)', [event?.id]);

  await maintainPartitions(api.services, quiet, now);

  expect(await partitionsOf(api)).toContain(nameOf(1));
  await api.rows('delete from audit_pending');
  await maintainPartitions(api.services, quiet, now);
  expect(await partitionsOf(api)).not.toContain(nameOf(1));
});

test('what a backup has of a month that has left the chain gets no new position in the restored database', async () => {
  const api = await aService();
  for (const months of [1, 2]) await recordAt(api, inMonths(months));
  const now = new Date(inMonths(2) + 5 * 86_400_000);
  vi.setSystemTime(now);
  expect(await pruneEvents(api.services, quiet, now)).toBeGreaterThan(0);
  const [event] = await api.rows<{ id: string }>(`select id from ${nameOf(1)}`);
  // As in a restored database: another server, and all rows in the first partition.
  await api.rows(`update audit_head set server = 'another'`);
  await api.rows(`alter table audit_event detach partition ${nameOf(1)}`);
  await api.rows('alter table audit_event detach partition audit_event_first');
  await api.rows(`insert into audit_event_first select * from ${nameOf(1)}`);
  await api.rows(
    `alter table audit_event attach partition audit_event_first for values from (minvalue) to ('${firstIdAt('evt', new Date(inMonths(1) + 22 * 86_400_000))}')`,
  );

  await chainEvents(api.services, quiet);

  expect(await api.rows('select from audit_link where event_id = $1', [event?.id])).toEqual([]);
  expect(await verifyAudit(api.services)).toMatchObject({ faults: [], pending: 0 });
  await maintainPartitions(api.services, quiet, now);
  expect(await api.rows('select from audit_event where id = $1', [event?.id])).toEqual([]);
});
