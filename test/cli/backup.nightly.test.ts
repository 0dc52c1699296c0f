import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { restoreBackup } from '../../src/backup/restore.ts';
import { writeBackup } from '../../src/backup/write.ts';
import { knownMigrations, migrate } from '../../src/db/migrate.ts';
import { openOrm } from '../../src/db/connection/orm.ts';
import { chainEvents } from '../../src/events/chain/append.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { startApi, type Api } from '../support/api.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { as } from '../trpc/console.ts';
import {
  anEndpoint,
  aReceiver,
  dispatch,
  eventually,
  letTimePass,
  numberEvents,
  stateOf,
} from '../webhooks/receiver.ts';
import { fillEverything } from './full-database.ts';
import { refusalOf, run } from './roster.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

let source: Api;
let made: Awaited<ReturnType<typeof fillEverything>>;
let folder: string;
/** A backup of all of `source`. */
let file: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roster-backup-'));
  source = await startApi();
  made = await fillEverything(source);
  file = join(folder, 'full');
  // Otherwise they are written between the backup and the comparison with it.
  await source.usage.flush();
  await writeBackup(source.databaseUrl, file);
});

afterAll(async () => {
  await source.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A connection to a database that goes with the test. */
async function connectTo(database: TestDatabase) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
  });
  return {
    url: database.url,
    rows: async <Row extends pg.QueryResultRow>(sql: string) => (await client.query<Row>(sql)).rows,
  };
}

const connectToSource = () => connectTo({ url: source.databaseUrl, drop: () => Promise.resolve() });
const aMigratedDatabase = async () => connectTo(await createTestDatabase());

const anEmptyDatabase = async () => connectTo(await createEmptyDatabase());

type Connection = Awaited<ReturnType<typeof connectTo>>;

const tableNames = async ({ rows }: Connection): Promise<string[]> =>
  (
    await rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'mikro_orm_migrations'
         and not exists (select from pg_inherits where inhrelid = tablename::regclass) order by 1`,
    )
  ).map(({ name }) => name);

/** Every row of every table, and of the queue what a job is. */
async function contentOf(connection: Connection) {
  const content: Record<string, string[]> = {};
  const list = async (name: string, from: string) => {
    const found = await connection.rows<{ row: string }>(`select t::text as row from ${from} t order by 1`);
    content[name] = found.map(({ row }) => row);
  };
  for (const table of await tableNames(connection)) await list(table, table);
  // The snapshot and its server mean nothing after a restore.
  await list('audit_head', '(select sequence, hash, signature from audit_head)');
  await list(
    'jobs',
    `(select k.identifier, j.payload, j.key, j.run_at from graphile_worker._private_jobs j
        join graphile_worker._private_tasks k on k.id = j.task_id)`,
  );
  return content;
}

const constraintsAndIndexes = ({ rows }: Connection) =>
  rows<{ definition: string }>(
    `select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(pg_constraint.oid) as definition, convalidated as valid
     from pg_constraint join pg_class c on c.oid = conrelid
     where connamespace = 'public'::regnamespace and not c.relispartition
     union all
     select indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisvalid
     from pg_index join pg_class c on c.oid = indrelid
     where c.relnamespace = 'public'::regnamespace and not c.relispartition
     order by 1, 2, 3`,
  );

const countOf = async ({ rows }: Connection, table: string) =>
  (await rows<{ count: number }>(`select count(*)::int from ${table}`))[0]?.count;

const backUp = (url: string, ...args: string[]) => run({ DATABASE_URL: url, SECRET_KEYS }, ['backup', ...args]);
const restore = (url: string, ...args: string[]) => run({ DATABASE_URL: url, SECRET_KEYS }, ['restore', ...args]);

describe('backup', () => {
  test('can be read only by its owner, reports its content, and overwrites nothing', async () => {
    const target = join(folder, 'of-command');

    const first = await backUp(source.databaseUrl, '--to', target, '--json');
    const again = await backUp(source.databaseUrl, '--to', target);

    expect(first).toMatchObject({ code: 0, stderr: '' });
    const { tables, ...printed } = JSON.parse(first.stdout) as { tables: string[] };
    const { size, mode } = statSync(target);
    expect(printed).toMatchObject({ file: target, bytes: size });
    expect(tables.toSorted()).toEqual(await tableNames(await connectToSource()));
    expect(mode & 0o777).toBe(0o600);
    expect(refusalOf(again)).toBe(`--to: ${target} already exists and was not overwritten`);
    expect(statSync(target).size).toBe(size);
  });

  test('holds no key of SECRET_KEYS, and no secret that it could be used with', () => {
    const content = gunzipSync(readFileSync(file)).toString();

    expect(content).toContain(made.owner.id);
    for (const secret of [SECRET_KEYS, made.key.secret, made.grant.secret, made.person.password])
      expect(content).not.toContain(secret);
  });

  test('of a database without tables fails, and leaves no file', async () => {
    const empty = await anEmptyDatabase();
    const target = join(folder, 'of-nothing');

    expect(refusalOf(await backUp(empty.url, '--to', target))).toMatch(/^the database contains no tables of Roster/);
    expect(statSync(target, { throwIfNoEntry: false })).toBeUndefined();
  });

  // Guarantees one moment for all tables: what is written together is found together.
  test('under running writes is of one moment', async () => {
    const busy = await aMigratedDatabase();
    // Between the tables that are written, so that time passes.
    await busy.rows(`insert into role (id, name, team_id, permissions, created_at)
      select 'r' || n, n, null, '{}', now() from generate_series(1, 30000) n`);
    const stopping = new AbortController();
    let written = 0;
    const writer = async (lane: number) => {
      const client = new pg.Client({ connectionString: busy.url });
      await client.connect();
      for (; !stopping.signal.aborted; written += 1) {
        const id = `'${lane}-${written}'`;
        await client.query(`begin;
          insert into account (id, created_at, updated_at) values (${id}, now(), now());
          insert into team (id, name, slug, created_at, updated_at) values (${id}, '', ${id}, now(), now());
          insert into sent_mail (id, recipient, created_at) values (${id}, '', now());
          commit`);
      }
      await client.end();
    };
    const writers = Promise.all([1, 2].map(writer));
    await expect.poll(() => written, { interval: 5 }).toBeGreaterThan(20);
    const before = written;

    await writeBackup(busy.url, join(folder, 'busy'));
    const after = written;
    stopping.abort();
    await writers;

    const restored = await anEmptyDatabase();
    await restoreBackup(restored.url, join(folder, 'busy'), { emails: true });
    const counts: unknown[] = [];
    for (const table of ['account', 'team', 'sent_mail']) counts.push(await countOf(restored, table));
    expect(after).toBeGreaterThan(before);
    expect(Number(counts[0])).toBeGreaterThanOrEqual(before);
    expect(new Set(counts).size).toBe(1);
  });

  test('no table counts by a sequence, which a restore would have to set', async () => {
    const { rows } = await connectToSource();

    expect(await rows(`select sequencename from pg_sequences where schemaname = 'public'`)).toEqual([
      { sequencename: 'mikro_orm_migrations_id_seq' },
    ]);
  });
});

describe('restore', () => {
  test('into an empty server restores every row of every table, and every waiting email', async () => {
    const original = await contentOf(await connectToSource());
    const target = await anEmptyDatabase();

    const { code, stdout, stderr } = await restore(target.url, '--from', file, '--json');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // Otherwise a table could be missing without anybody seeing it.
    expect(Object.entries(original).filter(([, rows]) => rows.length === 0)).toEqual([]);
    expect(await contentOf(target)).toEqual(original);
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      madeAt: expect.stringMatching(/^\d{4}-/),
      rows: Object.fromEntries(Object.entries(original).map(([table, rows]) => [table, rows.length])),
    });
  });

  test('leaves every index and constraint as the migrations make it', async () => {
    const original = await constraintsAndIndexes(await aMigratedDatabase());
    const target = await anEmptyDatabase();
    await restoreBackup(target.url, file, { emails: true });

    expect(original.filter(({ definition }) => definition.startsWith('FOREIGN KEY')).length).toBeGreaterThan(20);
    expect(await constraintsAndIndexes(target)).toEqual(original);
  });

  test('restores a service in which keys, grants, sign-in, waiting emails and the audit log work', async () => {
    const target = await anEmptyDatabase();
    await restoreBackup(target.url, file, { emails: true });
    const api = await startApi({}, { databaseUrl: target.url });
    onTestFinished(() => api.close());

    const members = await api.as(made.key).get(`/api/v1/teams/${made.team.id}/members`);
    const teams = await api.as(made.grant).get('/api/v1/teams');
    const visitor = api.visitor();
    await visitor.trpc.auth.signIn.mutate(made.person);

    expect([members.status, members.body.length, teams.status]).toEqual([200, 2, 200]);
    expect((await visitor.trpc.getMe.query()).email).toBe(made.person.email);
    expect((await api.mailTo('Ines@example.com')).text).toContain('rst_inv_');
    const { events, pending } = await verifyAudit(api.services);
    expect(pending).toBeGreaterThan(1);
    // The emails that waited cause events too.
    const chained = async () => {
      await chainEvents(api.services, { info: () => undefined, warn: () => undefined, error: () => undefined });
      return verifyAudit(api.services);
    };
    await expect.poll(chained).toMatchObject({ faults: [], pending: 0 });
    expect((await chained()).events).toBeGreaterThanOrEqual(events + pending);
  });

  test('can omit the waiting emails', async () => {
    const target = await anEmptyDatabase();

    expect(await restore(target.url, '--from', file, '--without-emails')).toMatchObject({ code: 0, stderr: '' });
    expect(await countOf(target, 'account')).toBe(3);
    expect(await countOf(target, 'graphile_worker._private_jobs')).toBe(0);
  });

  // Guarantees that a backup from before an upgrade can be used after it.
  test('of an earlier migration brings the rows up to date', async () => {
    const earlier = await aMigratedDatabase();
    const orm = await openOrm(earlier.url, { poolMax: 1 });
    await orm.migrator.down();
    await orm.close(true);
    await earlier.rows(`insert into account (id, email, created_at, updated_at) values ('a', 'A@b.c', now(), now())`);
    await writeBackup(earlier.url, join(folder, 'earlier'));
    const target = await anEmptyDatabase();

    const { code, stderr } = await restore(target.url, '--from', join(folder, 'earlier'));

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await target.rows('select id, email from account')).toEqual([{ id: 'a', email: 'A@b.c' }]);
    expect(await target.rows('select name from mikro_orm_migrations order by name')).toEqual(
      knownMigrations().map((name) => ({ name })),
    );
  });

  test('into a database with rows, or with newer migrations, fails and changes nothing', async () => {
    const used = await aMigratedDatabase();
    const further = await anEmptyDatabase();
    await migrate(further.url);
    await further.rows(`insert into mikro_orm_migrations (name) values ('Migration29991231000000_later')`);
    await used.rows(`insert into team (id, name, slug, created_at, updated_at) values ('t', '', 't', now(), now())`);

    const [rows, level] = await Promise.all([restore(used.url, '--from', file), restore(further.url, '--from', file)]);

    expect(refusalOf(rows)).toBe(
      '--from: nothing was restored: the database is not empty (team has rows): restore into a new, empty database',
    );
    expect(refusalOf(level)).toBe(
      '--from: nothing was restored: the database has newer migrations than the backup: restore into a new, empty database',
    );
    expect(await countOf(used, 'account')).toBe(0);
    expect(await countOf(further, 'account')).toBe(0);
  });
});

describe('a file that is not as it was written', () => {
  let untouched: TestDatabase;
  beforeAll(async () => {
    untouched = await createEmptyDatabase();
  });
  afterAll(() => untouched.drop());

  const altered = (name: string, change: (content: string) => string): string => {
    const changed = join(folder, name);
    writeFileSync(changed, gzipSync(change(gunzipSync(readFileSync(file)).toString())));
    return changed;
  };

  test.each([
    ['is cut', /damaged/, () => write('cut', readFileSync(file).subarray(0, -100))],
    ['is cut after its first bytes', /damaged/, () => write('stump', readFileSync(file).subarray(0, 30))],
    ['has another byte', /damaged/, () => write('flipped', flipped(readFileSync(file)))],
    ['has another letter', /damaged/, () => altered('letter', (text) => text.replace('paul@', 'saul@'))],
    ['lacks its end', /damaged/, () => altered('endless', (text) => text.replace(/\{"sha256.*\n$/, ''))],
    ['goes on after its end', /damaged/, () => altered('longer', (text) => `${text}more\n`)],
    ['is empty', /damaged|not a backup/, () => write('empty', Buffer.alloc(0))],
    ['is of another program', /not a backup of Roster/, () => write('foreign', Buffer.from('PGDMP and so on'))],
    ['is another archive', /not a backup of Roster/, () => write('archive', gzipSync('{"a":1}\n'))],
    ['has no line', /not a backup of Roster/, () => write('lineless', gzipSync(Buffer.alloc(3_000_000)))],
    [
      'is of a later format',
      /newer version/,
      () => altered('later', (text) => text.replace('"format":1', '"format":2')),
    ],
    ['is of a later migration', /newer version/, () => altered('migration', laterMigration)],
    ['is not there', /ENOENT/, () => join(folder, 'nowhere')],
  ])('because it %s is refused before anything is written', async (_, reason, make) => {
    await expect(restoreBackup(untouched.url, make(), { emails: true })).rejects.toThrow(reason);
    expect(await tableNames(await connectTo({ ...untouched, drop: () => Promise.resolve() }))).toEqual([]);
  });

  // Where the file changes after it has been examined, or rows that it holds cannot be.
  test('inside of its rows leaves no row behind', async () => {
    const target = await anEmptyDatabase();
    const broken = join(folder, 'broken');
    await writeBackup(await withOrphan(), broken);

    await expect(restoreBackup(target.url, broken, { emails: true })).rejects.toThrow(/foreign key/);
    expect(await countOf(target, 'account')).toBe(0);
    expect(await countOf(target, 'role')).toBe(3);
  });

  /** A database with a row that none of ours can have. */
  async function withOrphan(): Promise<string> {
    const connection = await aMigratedDatabase();
    await connection.rows(`insert into account (id, created_at, updated_at) values ('a', now(), now())`);
    await connection.rows(`alter table session drop constraint session_account_id_foreign`);
    await connection.rows(`insert into session (id, account_id, token_hash, created_at, expires_at, idle_expires_at)
      values ('s', 'nobody', '', now(), now(), now())`);
    return connection.url;
  }

  function write(name: string, content: Uint8Array): string {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  }

  function flipped(content: Buffer): Buffer {
    const at = Math.floor(content.length / 2);
    content.writeUInt8(content.readUInt8(at) ^ 4, at);
    return content;
  }

  /** Whole, but not of this version. */
  function laterMigration(text: string): string {
    const content = text.replace(/"\]\}\n/, '","Migration29991231000000_later"]}\n').replace(/\{"sha256.*\n$/, '');
    return `${content}{"sha256":"${hash('sha256', content)}"}\n`;
  }
});

describe('webhooks in a backup', () => {
  const deliveries = ({ rows }: Connection) =>
    rows<{ state: string }>(`select state from webhook_delivery order by id`).then((found) =>
      found.map(({ state }) => state),
    );

  test('that wait are restored to be sent', async () => {
    const target = await anEmptyDatabase();
    await restoreBackup(target.url, file, { emails: true });

    expect(await deliveries(target)).toEqual(['waiting']);
  });

  test('are not sent where the restore is without deliveries, nor are those of older events', async () => {
    const target = await anEmptyDatabase();
    await restoreBackup(target.url, file, { emails: true, deliveries: false });

    expect(await deliveries(target)).toEqual(['failed']);
    expect(await target.rows('select 1 as one from webhook_cursor where not_before <= now()')).toHaveLength(1);
  });

  /**
   * Restores a backup of a service with an endpoint: one event was delivered, one was tried and waits, one has no
   * delivery yet. @returns the descriptions of the team in what the receiver gets after the restore
   */
  async function sendAfterRestore(without?: { deliveries: false }) {
    let isUp = true;
    const receiver = await aReceiver((_req, res) => res.writeHead(isUp ? 200 : 503).end());
    const api = await startApi();
    onTestFinished(() => api.close());
    const { trpc, teamId, endpointId, owner } = await anEndpoint(api, receiver.url);
    const change = async (description: string) => {
      await trpc.teams.updateDetails.mutate({ teamId, description });
      await numberEvents(api);
    };
    const dispatcher = dispatch(api);
    await numberEvents(api);
    await eventually(async () => expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'delivered' }]));
    isUp = false;
    await change('waits');
    await eventually(async () =>
      expect((await stateOf(api, endpointId)).at(-1)).toMatchObject({ state: 'waiting', attempts: 1 }),
    );
    await dispatcher.stop();
    await change('has no delivery yet');
    const own = join(folder, `of ${endpointId}`);
    await writeBackup(api.databaseUrl, own);
    const target = await anEmptyDatabase();
    await restoreBackup(target.url, own, { emails: true, ...without });

    const restored = await startApi({}, { databaseUrl: target.url });
    onTestFinished(() => restored.close());
    receiver.received.length = 0;
    isUp = true;
    await letTimePass(restored, endpointId);
    dispatch(restored);
    const later = await as(restored, owner);
    await later.teams.updateDetails.mutate({ teamId, description: 'later' });
    await numberEvents(restored);
    const descriptions = () => receiver.received.map(({ json }) => Object(json.data?.['team']).description as string);
    await eventually(() => expect(descriptions()).toContain('later'));
    await eventually(async () =>
      expect(
        (await stateOf(restored, endpointId)).filter(({ state }) => ['waiting', 'sending'].includes(state)),
      ).toEqual([]),
    );
    return descriptions().toSorted();
  }

  test('are sent by the restored service: what waited and what had no delivery yet once, what was delivered not again', async () => {
    expect(await sendAfterRestore()).toEqual(['has no delivery yet', 'later', 'waits']);
  });

  test('are sent by a service restored without deliveries only for what happens afterwards', async () => {
    expect(await sendAfterRestore({ deliveries: false })).toEqual(['later']);
  });
});
