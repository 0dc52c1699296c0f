import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { createClient } from '../db/connection/connection.ts';
import { appliedMigrations, knownMigrations, migrate } from '../db/migrate.ts';
import { deferChecksAndIndexes } from './deferred.ts';
import { readBackup, type Header, type Part, type Section } from './file.ts';
import { PLAIN_FORMATS, listTables } from './tables.ts';

export type Restored = { readonly madeAt: string; readonly rows: Readonly<Record<string, number>> };
export type RestoreOptions = {
  /** False omits the emails that were waiting at the time of the backup. */
  readonly emails: boolean;
  /** False fails the webhooks that were waiting, and sends none of events that are older than the restore. */
  readonly deliveries?: boolean;
};

/** Conditions for the rows that migrations insert. A database with only these rows counts as empty. */
const MIGRATION_ROWS: Readonly<Record<string, string>> = {
  role: 'team_id is null',
  audit_head: 'sequence is null',
  permission_catalogue: 'version = 0',
};

/**
 * Restores a backup into an empty database, in one transaction, at the migration of the backup. The whole file is
 * verified before the database is changed.
 */
export async function restoreBackup(databaseUrl: string, file: string, options: RestoreOptions): Promise<Restored> {
  const header = await verifyFile(file);
  const level = getLastMigration(header);
  const client = createClient(databaseUrl, { purpose: 'restore' });
  await client.connect();
  try {
    await requireEmpty(client);
    const applied = await appliedMigrations(client);
    if (applied.some((name) => !header.migrations.includes(name)))
      throw new Error('the database has newer migrations than the backup: restore into a new, empty database');
    if (applied.length < header.migrations.length) await migrate(databaseUrl, level);
    return { madeAt: header.madeAt, rows: await load(client, file, header, options) };
  } finally {
    await client.end();
  }
}

/** Verifies the whole file. @returns its header */
async function verifyFile(file: string): Promise<Header> {
  let header: Header | undefined;
  for await (const part of readBackup(file)) if ('header' in part) header = part.header;
  if (header === undefined) throw new Error('the file is not a backup of Roster');
  return header;
}

/** Returns the last migration of a backup. @throws if this version does not know all its migrations */
function getLastMigration({ migrations }: Header): string {
  const known = knownMigrations().slice(0, migrations.length);
  const unknown = migrations.find((name, index) => known[index] !== name);
  const last = known.at(-1);
  if (unknown !== undefined || last === undefined)
    throw new Error(
      `the backup was created by a newer version of Roster, with ${unknown}: restore it with that version`,
    );
  return last;
}

async function requireEmpty(client: pg.Client): Promise<void> {
  for (const { name } of await listTables(client)) {
    const { rows } = await client.query<{ exists: boolean }>(
      `select exists (select from ${pg.escapeIdentifier(name)} where not (${MIGRATION_ROWS[name] ?? 'false'})) as exists`,
    );
    if (rows[0]?.exists)
      throw new Error(`the database is not empty (${name} has rows): restore into a new, empty database`);
  }
}

async function load(
  client: pg.Client,
  file: string,
  header: Header,
  { emails, deliveries = true }: RestoreOptions,
): Promise<Record<string, number>> {
  await client.query('begin');
  await client.query(PLAIN_FORMATS);
  const tables = (await listTables(client)).map(({ name }) => name);
  const names = tables.map((name) => pg.escapeIdentifier(name)).join(', ');
  // A running service waits for this lock and then sees all restored rows.
  await client.query(`lock table ${names} in access exclusive mode`);
  await requireEmpty(client);
  if (JSON.stringify(await appliedMigrations(client)) !== JSON.stringify(header.migrations))
    throw new Error('the database was migrated concurrently: stop the service and restore into a new, empty database');
  for (const name of Object.keys(MIGRATION_ROWS).filter((row) => tables.includes(row)))
    await client.query(`delete from ${pg.escapeIdentifier(name)}`);
  // The backup contains the rows that the triggers would insert.
  await eachTable(tables, (table) => client.query(`alter table ${table} disable trigger user`));

  const createChecksAndIndexes = await deferChecksAndIndexes(client, tables);
  const counts: Record<string, number> = {};
  const parts = readBackup(file);
  for await (const part of parts) {
    if (!('section' in part)) continue;
    const copy = client.query(copyFrom(await prepareCopy(client, part.section, tables)));
    await pipeline(readRows(parts), copy);
    counts[part.section.name] = copy.rowCount;
  }
  await createChecksAndIndexes();
  if (emails) await enqueueJobs(client);
  else counts['jobs'] = 0;
  if (!deliveries && tables.includes('webhook_delivery')) await client.query(SKIP_DELIVERIES);
  await eachTable(tables, (table) => client.query(`alter table ${table} enable trigger user`));
  // Transaction ids of the other server mean nothing here: the worker looks for events without a position.
  if (tables.includes('audit_head')) await client.query(`update audit_head set server = ''`);
  await client.query(`analyze ${names}`);
  await client.query('commit');
  return counts;
}

const SKIP_DELIVERIES = `
  update webhook_delivery set state = 'failed', reason = 'The backup was restored without deliveries.'
  where state in ('waiting', 'sending');
  update webhook_cursor set not_before = now()`;

/** Reads the rows of the current section. Leaves `parts` after the end of the section. */
async function* readRows(parts: AsyncGenerator<Part>): AsyncGenerator<Buffer> {
  for (let next = await parts.next(); !next.done && 'rows' in next.value; next = await parts.next()) {
    yield next.value.rows;
  }
}

async function eachTable(tables: readonly string[], run: (table: string) => Promise<unknown>): Promise<void> {
  for (const name of tables) await run(pg.escapeIdentifier(name));
}

/** Returns the COPY statement for a section, and creates the temporary table for jobs. */
async function prepareCopy(
  client: pg.Client,
  { kind, name, columns }: Section,
  tables: readonly string[],
): Promise<string> {
  if (kind === 'jobs') {
    await client.query(
      `create temporary table restored_job (position bigint generated always as identity,
         identifier text, payload json, key text, run_at timestamptz) on commit drop`,
    );
  } else if (!tables.includes(name)) {
    throw new Error(`the backup contains the table ${name}, which does not exist in Roster`);
  }
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ');
  return `copy ${pg.escapeIdentifier(kind === 'jobs' ? 'restored_job' : name)} (${list}) from stdin`;
}

/** Enqueues the restored jobs with the function of the queue, which assigns ids and notifies workers on commit. */
async function enqueueJobs(client: pg.Client): Promise<void> {
  await client.query(
    `select count(job) from (
       select graphile_worker.add_job(identifier, payload := payload, job_key := key, run_at := run_at) as job
       from (select * from restored_job order by position) waiting) added`,
  );
}
