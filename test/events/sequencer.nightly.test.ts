import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import { connectionSettings, createPool } from '../../src/db/connection/connection.ts';
import { keepOnlyIdle, onBusyRelease, type BusyRelease } from '../../src/db/connection/idle-releases.ts';
import { numberEvents } from '../../src/events/chain/append.ts';
import { recordNow } from '../../src/transactions/record-now.ts';
import { startSequencer } from '../../src/events/sequencer.ts';
import { onEventsNumbered } from '../../src/events/wake.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { startApi, test as shared, type Api } from '../support/api.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function aSequencedApi(): Promise<Api> {
  const api = await startApi();
  onTestFinished(() => api.close());
  const sequencer = startSequencer(api.services, log);
  onTestFinished(() => sequencer.stop());
  return api;
}

const numbered = async (api: Api) =>
  (
    await api.rows<{ event: string }>(
      'select e.event from audit_link l join audit_event e on e.id = l.event_id order by l.sequence',
    )
  ).map(({ event }) => event);

shared('an event gets its position after its commit, without a job, and who waits is told', async () => {
  const api = await aSequencedApi();
  const told = vi.fn<() => void>();
  onEventsNumbered(api.services.db, told);

  await recordNow(api.services.db, 'operator.searched', {});

  await expect.poll(() => numbered(api)).toEqual(['operator.searched']);
  await expect.poll(() => told.mock.calls.length).toBeGreaterThan(0);
});

shared('an event of another process gets its position too', async () => {
  const api = await aSequencedApi();
  const other = await startApi({}, { databaseUrl: api.databaseUrl });
  onTestFinished(() => other.close());

  await recordNow(other.services.db, 'operator.searched', {});

  await expect.poll(() => numbered(api)).toEqual(['operator.searched']);
});

shared('of several processes each event gets one position, without gaps', async () => {
  const api = await aSequencedApi();
  const other = await startApi({}, { databaseUrl: api.databaseUrl });
  onTestFinished(() => other.close());
  const second = startSequencer(other.services, log);
  onTestFinished(() => second.stop());

  await Promise.all(
    Array.from({ length: 60 }, (_, i) => recordNow((i % 2 ? api : other).services.db, 'operator.searched', {})),
  );

  await expect.poll(async () => (await numbered(api)).length).toBe(60);
  expect(await verifyAudit(api.services)).toMatchObject({
    faults: [],
    events: 60,
    end: { sequence: 60 },
  });
});

shared('events are numbered by indexes, also with statements that were planned while there were few', async () => {
  const api = await startApi();
  onTestFinished(() => api.close());
  const pool = createPool(api.databaseUrl, { purpose: 'events', connectMs: 5000, pipeline: true, max: 1 });
  onTestFinished(() => pool.end());
  const scans = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const [row] = await api.rows<{ scans: number }>(
      `select sum(seq_scan)::int as scans from pg_stat_user_tables where relname ~ '^audit_(link|event)'`,
    );
    return row?.scans;
  };
  const before = await scans();

  // PostgreSQL keeps a plan after five runs.
  for (let i = 1; i <= 8; i += 1) {
    await recordNow(api.services.db, 'operator.searched', {});
    await expect.poll(() => numberEvents(api.services, log, pool)).toMatchObject({ end: { sequence: i } });
  }

  expect(await scans()).toBe(before);
});

// Of statements that are sent together, those after the one that fails fail too (25P02), and say nothing.
shared.for([
  ['a lock was not free in time', { lock_timeout: 1000 }, { code: '55P03' }],
  ['PostgreSQL ended a statement', { statement_timeout: 1000 }, { code: '57014' }],
  ['PostgreSQL did not answer', { query_timeout: 1000 }, { message: 'Query read timeout' }],
] as const)('where %s, that is the error, and its connection is not used again', async ([, limits, error], { api }) => {
  const told: BusyRelease[] = [];
  onTestFinished(onBusyRelease((release) => told.push(release)));
  const settings = connectionSettings(api.databaseUrl, { purpose: 'events', pipeline: true });
  const pool = keepOnlyIdle(new pg.Pool({ ...settings, ...limits, max: 1 } as pg.PoolConfig), 'events');
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  const holder = new pg.Client(api.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await recordNow(api.services.db, 'operator.searched', {});
  const [{ pid } = { pid: 0 }] = (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;

  await holder.query('begin; lock table audit_head in access exclusive mode');
  await expect(numberEvents(api.services, log, pool)).rejects.toMatchObject(error);
  await holder.query('rollback');

  expect((await numberEvents(api.services, log, pool)).outcome).toMatch(/done|more/);
  expect((await pool.query('select pg_backend_pid() as pid')).rows).not.toEqual([{ pid }]);
  expect(told).toEqual([]);
});
