import { rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig, type Config } from '../src/config/config.ts';
import { createEncryption } from '../src/crypto/encryption.ts';
import { restoreBackup } from '../src/backup/restore.ts';
import { writeBackup } from '../src/backup/write.ts';
import { openDatabase } from '../src/db/database.ts';
import { useEventKey } from '../src/events/chain/event-mac.ts';
import { pruneEvents } from '../src/events/chain/retention.ts';
import { maintainPartitions } from '../src/events/partitions.ts';
import { CLEANUPS } from '../src/jobs/cleanup.ts';
import { monthStart } from './data/past-months.ts';
import { measureDelete, type DeleteRun } from './deletes.ts';
import { measure, median, type Measured } from './measure.ts';
import type { Options, Step } from './options.ts';
import { byKey, TITLES } from './requests.ts';
import { environmentOf, SECRET_KEYS } from './servers.ts';
import type { Stage } from './stage.ts';
import { details, markdown } from './table.ts';

type Size = { readonly name: string; readonly rows: number; readonly table: number; readonly indexes: number };
type Timing = { readonly name: string; readonly seconds: number; readonly what: string };

type Timed = (name: string, work: () => Promise<string>) => Promise<void>;

export type TenMillion = {
  readonly measured: readonly Measured[];
  readonly sizes: readonly Size[];
  readonly steps: readonly Timing[];
  readonly deletes: readonly DeleteRun[];
};

const SMALL = 'roster, small';
const LARGE = 'roster, ten million';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MEGABYTE = 1024 * 1024;

/**
 * Measures Roster on ten million accounts: requests beside twenty thousand, sizes, and what jobs and operators run. In a
 * kept folder, the steps can be run one by one.
 */
export async function measureTenMillion(
  stage: Stage,
  options: Options,
  report: (line: string) => void,
): Promise<TenMillion> {
  const steps: Timing[] = [];
  const timed: Timed = async (name, work) => {
    report(name);
    const startedAt = performance.now();
    const what = await work();
    steps.push({ name, seconds: (performance.now() - startedAt) / 1000, what });
  };
  const isAsked = (step: Step) => options.steps.includes(step);

  const small = await stage.fillDatabase('roster_small', 'small');
  let large = small;
  await timed('make the data set, with its indexes', async () => {
    large = await stage.fillDatabase('roster_large', 'ten-million', options.scale);
    return '';
  });
  const { databaseUrl } = stage.backingOf('roster_large');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const sizes = isAsked('sizes') ? await readSizes(client) : [];
    if (isAsked('backup')) await backUpAndRestore(stage, databaseUrl, isAsked('restore'), timed);
    const measured: Measured[] = [];
    const deletes: DeleteRun[] = [];
    if (isAsked('requests') || isAsked('deletes')) {
      // Its own retention would begin before it is measured.
      const server = await stage.start('roster', 'roster_large', { AUDIT_DAYS: '3650' });
      if (isAsked('requests')) {
        const smaller = await stage.start('roster', 'roster_small');
        const contenders = [
          { name: SMALL, servers: [smaller], callers: small.callers, dialect: byKey },
          { name: LARGE, servers: [server], callers: large.callers, dialect: byKey },
        ];
        for (const request of options.only) {
          report(`measuring ${request}`);
          measured.push(...(await measure(stage, request, contenders, options)));
        }
      }
      if (isAsked('deletes'))
        for (const [title, teamId] of [
          ['team of 20 members', large.callers[1]?.teamId],
          ['team of 10,000 members', large.giant.teamId],
        ] as const)
          deletes.push(await measureDelete(client, server, await deleteTeam(client, title, teamId)));
      await server.stop();
    }
    const config = readConfig(environmentOf({ databaseUrl, redisUrl: '', dataDir: '' }, 3000));
    if (isAsked('housekeeping')) await cleanUp(client, config, timed);
    if (isAsked('retention')) await retain(client, databaseUrl, timed);
    return { measured, sizes, steps, deletes };
  } finally {
    await client.end();
  }
}

/** The delete of a team by its owner. */
async function deleteTeam(client: pg.Client, title: string, teamId = '') {
  const { rows } = await client.query<{ owner: string }>(
    `select account_id as owner from membership where team_id = $1 and role_id = 'owner'`,
    [teamId],
  );
  const left = `select count(*)::int as left from team where id = '${teamId}'`;
  return { title, owner: rows[0]?.owner ?? '', path: 'teams.delete', input: { teamId }, left };
}

/** One batch of each cleanup, each with its time. */
async function cleanUp(client: pg.Client, config: Config, timed: Timed): Promise<void> {
  for (const [name, { batch }] of Object.entries(CLEANUPS))
    await timed(name, async () => `${(await client.query(batch(config))).rowCount ?? 0} rows`);
}

/** Retention of the first month, and the drop of its partition. */
async function retain(client: pg.Client, databaseUrl: string, timed: Timed): Promise<void> {
  const db = await openDatabase(databaseUrl, 4);
  try {
    const encryption = createEncryption([SECRET_KEYS]);
    useEventKey(db, encryption);
    const auditDays = (Date.now() - monthStart(-11).getTime()) / DAY_MS;
    const services = { db, encryption, config: { auditDays } };
    const fail = (fields: object, text: string) => {
      throw new Error(`${text}: ${JSON.stringify(fields)}`);
    };
    const log = { info: () => undefined, warn: fail, error: fail };
    await timed('retention: remove the oldest month from the chain', async () => {
      let events = 0;
      // As many runs of a job as it takes, each an hour later.
      for (let runs = 0; runs < 24; runs += 1) {
        const pruned = await pruneEvents(services, log, new Date(Date.now() + 2 * runs * HOUR_MS));
        if (pruned === 0) break;
        events += pruned;
      }
      return `${events} events`;
    });
    await timed('retention: drop its partition', async () => {
      const count = async () =>
        (await client.query(`select from pg_inherits where inhparent = 'audit_event'::regclass`)).rowCount ?? 0;
      const before = await count();
      await maintainPartitions(services, log);
      return `${before - (await count())} partition`;
    });
  } finally {
    await db.close();
  }
}

async function backUpAndRestore(stage: Stage, databaseUrl: string, isRestored: boolean, timed: Timed): Promise<void> {
  const file = join(tmpdir(), `roster-bench-${process.pid}.backup`);
  try {
    await timed('backup', async () => {
      await writeBackup(databaseUrl, file);
      return `${Math.round(statSync(file).size / MEGABYTE)} MB`;
    });
    if (!isRestored) return;
    const restored = await stage.fillWith('roster_restored', '');
    await timed('restore', async () => {
      const { rows } = await restoreBackup(restored.databaseUrl, file, { emails: false });
      return `${Object.values(rows).reduce((sum, count) => sum + count, 0)} rows`;
    });
    await stage.dropDatabase('roster_restored');
  } finally {
    rmSync(file, { force: true });
  }
}

/** The tables that matter, partitions together, with each index of more than a hundredth of the database. */
async function readSizes(client: pg.Client): Promise<Size[]> {
  const { rows } = await client.query<Size>(
    `select coalesce(p.relname, c.relname) as name, sum(c.reltuples)::float8 as rows,
       sum(pg_table_size(c.oid))::float8 as "table", sum(pg_indexes_size(c.oid))::float8 as indexes
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
     group by 1 having sum(pg_total_relation_size(c.oid)) > ${MEGABYTE} order by sum(pg_total_relation_size(c.oid)) desc`,
  );
  return rows;
}

const megabytes = (bytes: number) => (bytes / MEGABYTE).toFixed(0);

export function tenMillionTable({ measured, sizes, steps, deletes }: TenMillion): string {
  const perSecond = (one: Measured | undefined) => median((one?.runs ?? []).map((run) => run.perSecond));
  const ratios = measured
    .filter(({ contender }) => contender === LARGE)
    .map((large) => {
      const small = measured.find(({ request, contender }) => request === large.request && contender === SMALL);
      return [TITLES[large.request], (perSecond(large) / perSecond(small)).toFixed(2)];
    });
  return [
    markdown([['request', 'ten million ÷ twenty thousand'], ...ratios]),
    details(measured),
    markdown([
      ['step', 'seconds', 'result'],
      ...steps.map(({ name, seconds, what }) => [name, seconds.toFixed(1), what]),
    ]),
    markdown([
      ['deleted', 'answer, ms', 'slowest /readyz meanwhile, ms'],
      ...deletes.map(({ title, answerMs, slowestMs }) => [title, answerMs.toFixed(0), slowestMs.toFixed(0)]),
    ]),
    markdown([
      ['table', 'rows', 'table, MB', 'indexes, MB'],
      ...sizes.map(({ name, rows, table, indexes }) => [name, rows.toFixed(0), megabytes(table), megabytes(indexes)]),
    ]),
  ].join('\n');
}
