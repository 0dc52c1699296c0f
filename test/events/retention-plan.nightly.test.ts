import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../src/db/database.ts';
import pg from 'pg';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { insertCheckpoint } from '../../src/events/chain/checkpoints.ts';
import { CANONICAL, type CanonicalRow } from '../../src/events/chain/event-columns.ts';
import { GENESIS, nextPosition } from '../../src/events/chain/hash-chain.ts';
import { updateHead } from '../../src/events/chain/head.ts';
import { pruneEvents } from '../../src/events/chain/retention.ts';
import { newRoot } from '../../src/events/chain/root.ts';
import { startApi, type Api } from '../support/api.ts';

const DAY_MS = 86_400_000;
const EVENTS = 30_000;
/** Where batches end: the first ones on the first day, a small one on the second. */
const ENDS = [
  { sequence: 4000, day: 0 },
  { sequence: 8000, day: 0 },
  { sequence: 12_000, day: 0 },
  { sequence: 16_000, day: 0 },
  { sequence: 16_030, day: 1 },
] as const;

const fail = (fields: object, text: string) => {
  throw new Error(`${text}: ${JSON.stringify(fields)}`);
};
const log = { info: () => undefined, warn: fail, error: fail };

type Plan = { readonly 'Node Type': string; readonly 'Relation Name'?: string; readonly Plans?: readonly Plan[] };

/** The tables of the log that a plan reads as a whole. The partitions of months are empty here. */
const readsAll = ({ 'Node Type': type, 'Relation Name': table = '', Plans: plans = [] }: Plan): string[] => [
  ...(type === 'Seq Scan' && ['audit_event_first', 'audit_link'].includes(table) ? [table] : []),
  ...plans.flatMap(readsAll),
];

afterEach(() => {
  vi.useRealTimers();
});

/** A service with a log of which the first positions are chained and signed, as it is before the first retention. */
async function aLongLog(): Promise<Api> {
  const api = await startApi({ AUDIT_DAYS: '30' });
  onTestFinished(() => api.close());
  api.allowStrayEvents();
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('set session_replication_role = replica');
  // Statistics are as old as they can be: of the whole log.
  await client.query('alter table audit_link set (autovacuum_enabled = false)');
  await client.query(
    `insert into audit_event_first (id, occurred_at, event, actor_kind, team_id, account_id, details)
     select 'evt_0' || lpad(n::text, 25, '0'), now(), 'team.renamed', 'session', 'team_' || n % 500, 'acc_' || n, '{}'
     from generate_series(1, $1::int) n`,
    [EVENTS],
  );
  const { rows } = await client.query<CanonicalRow>(`select ${CANONICAL} from audit_event_first e order by e.id`);
  let end = GENESIS;
  const hashes = rows.map((row) => (end = nextPosition(end, row)).hash);
  await client.query(
    `insert into audit_link (sequence, event_id, hash)
     select n, event_id, decode(hash, 'hex') from unnest($1::text[], $2::text[]) with ordinality l (event_id, hash, n)`,
    [rows.map(({ id }) => id), hashes],
  );
  const { db, encryption } = api.services;
  const startedAt = new Date().toISOString();
  const root = newRoot();
  for (const { sequence, day } of ENDS) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(startedAt) + day * DAY_MS });
    const hash = hashes[sequence - 1] ?? '';
    const times = { startedAt, unsignedUntil: startedAt };
    await insertCheckpoint(db.orm.em.fork(), encryption, { sequence, hash, isRoot: false, ...times }, root);
  }
  await updateHead(db.orm.em.fork(), encryption, end, root);
  await client.query('analyze audit_event, audit_link');
  return api;
}

/** The services, with the plan of each statement that transactions of the entity manager are about to run. */
function explaining({ services }: Api): { services: Api['services']; plans: Map<string, Plan> } {
  const plans = new Map<string, Plan>();
  const explain = (tx: EntityManager) => {
    const run = tx.execute.bind(tx);
    const execute = async (sql: string, values: unknown[] = []) => {
      const [row] = await run<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(`explain (format json) ${sql}`, values);
      if (row !== undefined) plans.set(sql, row['QUERY PLAN'][0].Plan);
      return run(sql, values);
    };
    return Object.assign(tx, { execute });
  };
  const transact: Database['transact'] = (work, teamId) =>
    services.db.transact((open) => {
      explain(open.em);
      return work(open);
    }, teamId);
  return { services: { ...services, db: { ...services.db, transact } }, plans };
}

test('a batch of retention reads only its part of the log, also while statistics still count what earlier ones removed', async () => {
  const api = await aLongLog();
  const { services, plans } = explaining(api);
  const dayAfterRetention = (day: number) => new Date(Date.now() + (30 + day) * DAY_MS + 1000);
  vi.useRealTimers();

  expect(await pruneEvents(services, log, dayAfterRetention(0))).toBe(16_000);
  plans.clear();
  expect(await pruneEvents(services, log, dayAfterRetention(1))).toBe(30);

  const read = [...plans].map(([sql, plan]) => [sql, readsAll(plan)]);
  expect(read.length).toBeGreaterThan(5);
  expect(read.filter(([, tables]) => tables?.length !== 0)).toEqual([]);
});

test('such a plan is found', async () => {
  const api = await aLongLog();
  const { services, plans } = explaining(api);

  await services.db.transact(({ em: tx }) => tx.execute('select from audit_event where details = ?', ['{}']));

  expect([...plans.values()].map(readsAll)).toEqual([expect.arrayContaining(['audit_event_first'])]);
});
