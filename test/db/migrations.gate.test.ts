import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished, expect, test } from 'vitest';
import { knownMigrations, migrate } from '../../src/db/migrate.ts';
import { MIGRATIONS, openOrm } from '../../src/db/connection/orm.ts';
import { createTestDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');

async function aMigratedDatabase() {
  const database = await createTestDatabase();
  const orm = await openOrm(database.url, { poolMax: 2 });
  onTestFinished(async () => {
    await orm.close(true);
    await database.drop();
  });
  const tables = async () => {
    const rows = await orm.em.execute<{ name: string }[]>(
      `select tablename as name from pg_tables where schemaname = 'public'
         and not exists (select from pg_inherits where inhrelid = tablename::regclass)`,
    );
    return rows.map(({ name }) => name).filter((name) => name !== 'mikro_orm_migrations');
  };
  return { url: database.url, orm, tables };
}

// Guarantees that entities and migrations change together.
test('entities and migrations agree', async () => {
  const { orm } = await aMigratedDatabase();

  expect(await orm.schema.getUpdateSchemaSQL()).toBe('');
  expect(await orm.migrator.checkSchema()).toBe(false);
});

test('the MikroORM command line uses the configuration of the service and finds no changes', async () => {
  const { url } = await aMigratedDatabase();
  const args = ['bin/run.cjs', 'bin/mikro-orm.mjs', 'migration:check'];
  const env = { PATH: process.env['PATH'], DATABASE_URL: url };

  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });

  expect(stdout).toContain('No changes required, schema is up-to-date');
});

test('every migration can be taken back and applied again', async () => {
  const { orm, tables } = await aMigratedDatabase();
  const before = await tables();

  await orm.migrator.down({ to: 0 });
  expect(await tables()).toEqual([]);

  await orm.migrator.up();
  expect((await tables()).toSorted()).toEqual(before.toSorted());
  expect(await orm.schema.getUpdateSchemaSQL()).toBe('');
});

// Guarantees that replicas can start together on an empty database.
test('of several that migrate concurrently one does it and the others wait', async () => {
  const { url, orm, tables } = await aMigratedDatabase();
  await orm.migrator.down({ to: 0 });

  const ran = await Promise.all([migrate(url), migrate(url), migrate(url)]);

  expect(ran.filter((names) => names.length > 0)).toHaveLength(1);
  expect((await tables()).length).toBeGreaterThan(5);
});

/** Forwards to the server, and keeps all connections but the first open after the client has closed them. */
async function aLingeringWayTo(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const isTerminate = (bytes: Buffer) => bytes.equals(Buffer.from('X\0\0\0\x04'));
  const closed: Promise<unknown>[] = [];
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const lingers = closed.length > 0;
    const far = connect(Number(url.port), url.hostname);
    closed.push(once(near.resume(), 'close'));
    near.on('data', (bytes) => (lingers && isTerminate(bytes)) || far.write(bytes));
    far.pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // listening on TCP
  return { url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href, closed };
}

// An error on a connection without a listener would end the process; here it fails the run.
test('a server that stops while a migration closes its connections does not end the process', async () => {
  const { url, orm } = await aMigratedDatabase();
  const way = await aLingeringWayTo(url);
  await orm.migrator.down();
  expect(await migrate(way.url)).toHaveLength(1);

  const terminated = await orm.em.execute(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

  expect(terminated).toHaveLength(2);
  expect(way.closed).toHaveLength(3);
  await Promise.all(way.closed);
});

test('a start without a pending migration opens two connections for them, not one of an ORM too', async () => {
  const { url } = await aMigratedDatabase();
  const way = await aLingeringWayTo(url);

  expect(await migrate(way.url)).toEqual([]);

  expect(way.closed).toHaveLength(2);
});

// Guarantees that a rolling upgrade takes no replica of the version before out of service.
test('a migration that only a newer version knows is none that is pending, and stops no start', async () => {
  const { url, orm } = await aMigratedDatabase();
  await orm.em.execute(`insert into mikro_orm_migrations (name) values ('Migration29991231000000_later')`);

  expect(await orm.migrator.getPending()).toEqual([]);
  expect(await migrate(url)).toEqual([]);
});

/** Before the first release, when there was no version that could run beside it. */
const UNRELEASED = ['Migration20261121080000_accounts'];

// Guarantees that the version before goes on working: what it uses may go, or get stricter, only a release
// after it was last used. Such a migration is listed here with that release.
test.each([
  ['1.0.0', true],
  ['1.1.3', true],
  ['1.2.0', false],
  ['1.10.0', false],
  ['2.0.0', true],
  ['2.1.0', false],
])('a database that version %s has migrated can be used: %s', async (version, isUsable) => {
  const { url, orm } = await aMigratedDatabase();
  await orm.em.execute(`comment on table mikro_orm_migrations is 'Roster ${version}'`);

  const started = migrate(url);

  if (isUsable) expect(await started).toEqual([]);
  else await expect(started).rejects.toThrow(/migrated by Roster .*, more than one version after this one/);
  const [row] = await orm.em.execute<{ comment: string }[]>(
    `select obj_description('mikro_orm_migrations'::regclass) as comment`,
  );
  expect(row?.comment).toBe(`Roster ${version}`);
});

/** Renames the audit log to a partition of a table with its name and columns, so that each statement works as before. */
const REPLACING = ['Migration20261122042750_audit_partitions'];

test('a migration takes nothing away from the version before', () => {
  const taken =
    /\b(drop (table|column|schema)|rename|set not null|alter column \S+ type|add (column )?"\w+" [^;]*not null(?! default))/i;
  const upOf = (name: string): string =>
    readFileSync(join(MIGRATIONS, `${name}.ts`), 'utf8').split('override down')[0] ?? '';
  const additions = (sql: string) => [...sql.matchAll(/`([^`]+)`/g)].map(([, statement = '']) => statement);
  const taking = knownMigrations().filter((name) =>
    additions(upOf(name)).some((statement) => !statement.startsWith('create table') && taken.test(statement)),
  );

  expect(taking).toEqual([...UNRELEASED, ...REPLACING]);
});
