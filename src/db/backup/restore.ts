import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { knownMigrations, migrate } from '../migrate.ts';
import { readBackup, type Header, type Part, type Section } from './file.ts';
import { appliedMigrations, PLAIN_FORMATS, tablesOf } from './tables.ts';

export type Restored = { readonly madeAt: string; readonly rows: Readonly<Record<string, number>> };
export type RestoreOptions = {
  /** False leaves out the mails that had not left when the backup was made. */
  readonly mails: boolean;
};

/** Rows that the migrations make, which a database that counts as empty has as well. */
const OF_MIGRATIONS: Readonly<Record<string, string>> = { role: 'team_id is null' };

/**
 * Fills an empty database with what a backup holds, in one transaction, at the backup's migration. The
 * file is read to its end before anything is written.
 */
export async function restoreBackup(databaseUrl: string, file: string, { mails }: RestoreOptions): Promise<Restored> {
  const header = await examine(file);
  const level = levelOf(header);
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'roster restore' });
  client.on('error', () => undefined); // The query that waits fails.
  await client.connect();
  try {
    await client.query(PLAIN_FORMATS);
    await refuseRows(client);
    const applied = await appliedMigrations(client);
    if (applied.some((name) => !header.migrations.includes(name)))
      throw new Error('the database was migrated further than the backup: restore into a new, empty one');
    if (applied.length < header.migrations.length) await migrate(databaseUrl, level);
    return { madeAt: header.madeAt, rows: await load(client, file, header, mails) };
  } finally {
    await client.end();
  }
}

/** Reads all of it. @returns what it says of itself */
async function examine(file: string): Promise<Header> {
  let header: Header | undefined;
  for await (const part of readBackup(file)) if ('header' in part) header = part.header;
  if (header === undefined) throw new Error('the file is no backup of Roster');
  return header;
}

/** The migration that a backup is at, which this version has to know, with all before it. */
function levelOf({ migrations }: Header): string {
  const known = knownMigrations().slice(0, migrations.length);
  const unknown = migrations.find((name, index) => known[index] !== name);
  const last = known.at(-1);
  if (unknown !== undefined || last === undefined)
    throw new Error(`the backup was made by a newer version of Roster, with ${unknown}: restore it with that version`);
  return last;
}

async function refuseRows(client: pg.Client): Promise<void> {
  for (const { name } of await tablesOf(client)) {
    const { rows } = await client.query<{ exists: boolean }>(
      `select exists (select from ${pg.escapeIdentifier(name)} where not (${OF_MIGRATIONS[name] ?? 'false'})) as exists`,
    );
    if (rows[0]?.exists) throw new Error(`the database is not empty (${name} has rows): restore into a new, empty one`);
  }
}

async function load(client: pg.Client, file: string, header: Header, mails: boolean): Promise<Record<string, number>> {
  await client.query('begin');
  const tables = (await tablesOf(client)).map(({ name }) => name);
  const names = tables.map((name) => pg.escapeIdentifier(name)).join(', ');
  // From here on a service that runs on this database already waits, and finds everything.
  await client.query(`lock table ${names} in access exclusive mode`);
  await refuseRows(client);
  if (JSON.stringify(await appliedMigrations(client)) !== JSON.stringify(header.migrations))
    throw new Error('the database was migrated meanwhile: stop what uses it and restore into a new, empty one');
  for (const name of Object.keys(OF_MIGRATIONS)) await client.query(`delete from ${pg.escapeIdentifier(name)}`);
  // What they would write is in the backup as well.
  await eachTable(tables, (table) => client.query(`alter table ${table} disable trigger user`));

  const counts: Record<string, number> = {};
  const parts = readBackup(file);
  for await (const part of parts) {
    if (!('section' in part)) continue;
    const copy = client.query(copyFrom(await targetOf(client, part.section, tables)));
    await pipeline(rowsOf(parts), copy);
    counts[part.section.name] = copy.rowCount;
  }
  if (mails) await enqueueJobs(client);
  else counts['jobs'] = 0;
  await eachTable(tables, (table) => client.query(`alter table ${table} enable trigger user`));
  await client.query(`analyze ${names}`);
  await client.query('commit');
  return counts;
}

/** The rows of the section at which `parts` is. Leaves `parts` after the end of the section. */
async function* rowsOf(parts: AsyncGenerator<Part>): AsyncGenerator<Buffer> {
  for (let next = await parts.next(); !next.done && 'rows' in next.value; next = await parts.next()) {
    yield next.value.rows;
  }
}

async function eachTable(tables: readonly string[], run: (table: string) => Promise<unknown>): Promise<void> {
  for (const name of tables) await run(pg.escapeIdentifier(name));
}

/** Where the rows of a section go. */
async function targetOf(
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
    throw new Error(`the backup holds a table ${name}, which no migration of Roster makes`);
  }
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ');
  return `copy ${pg.escapeIdentifier(kind === 'jobs' ? 'restored_job' : name)} (${list}) from stdin`;
}

/** Through the queue's own function, which numbers jobs and wakes workers when this is committed. */
async function enqueueJobs(client: pg.Client): Promise<void> {
  await client.query(
    `select count(job) from (
       select graphile_worker.add_job(identifier, payload := payload, job_key := key, run_at := run_at) as job
       from (select * from restored_job order by position) waiting) added`,
  );
}
