import { QUEUE_JOBS, QUEUE_TASKS } from '../db/queue-tables.ts';
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { createClient } from '../db/connection/connection.ts';
import { appliedMigrations } from '../db/migrate.ts';
import { serializeBackup, type Section } from './file.ts';
import { PLAIN_FORMATS, listTables, type Table } from './tables.ts';

export type Written = { readonly madeAt: string; readonly bytes: number; readonly tables: readonly string[] };

/** Waiting emails, and those that were just requested. Replaced jobs have no key. */
const JOBS = `select t.identifier, j.payload, j.key, j.run_at
  from ${QUEUE_JOBS} j join ${QUEUE_TASKS} t on t.id = j.task_id
  where j.key is not null and t.identifier in ('sendInvitation', 'sendAccountMail', 'sendRequestedLink') order by j.id`;
const JOB_COLUMNS = ['identifier', 'payload', 'key', 'run_at'];

/** Writes a consistent snapshot of a database to a new file. The database stays usable. */
export async function writeBackup(databaseUrl: string, file: string): Promise<Written> {
  const client = createClient(databaseUrl, { purpose: 'backup' });
  await client.connect();
  try {
    const tables = await lockTables(client);
    const migrations = await appliedMigrations(client);
    if (migrations.length === 0)
      throw new Error('the database contains no tables of Roster: there is nothing to back up');
    const madeAt = new Date().toISOString();
    const content = serializeBackup({ madeAt, migrations }, createSections(client, tables));
    const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
    // On failure, delete the file only if this call created it.
    let isCreatedHere = false;
    target.once('open', () => (isCreatedHere = true));
    try {
      await pipeline(content, createGzip(), target);
    } catch (error) {
      if (isCreatedHere) await rm(file, { force: true });
      throw error;
    }
    return { madeAt, bytes: (await stat(file)).size, tables: tables.map(({ name }) => name) };
  } finally {
    await client.end();
  }
}

/** Begins the transaction and locks the tables. Its snapshot is taken after the locks, so no migration can interfere. */
async function lockTables(client: pg.Client): Promise<Table[]> {
  const tables = await listTables(client);
  await client.query('begin transaction isolation level repeatable read, read only');
  await client.query(PLAIN_FORMATS);
  if (tables.length > 0) {
    const names = tables.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
    await client.query(`lock table ${names} in access share mode`);
  }
  const locked = await listTables(client);
  if (JSON.stringify(locked) !== JSON.stringify(tables))
    throw new Error('the database was migrated concurrently: run the backup again');
  return locked;
}

async function* createSections(
  client: pg.Client,
  tables: readonly Table[],
): AsyncGenerator<{ section: Section; rows: AsyncIterable<Buffer> }> {
  for (const { name, columns } of tables) {
    const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ');
    yield {
      section: { kind: 'table', name, columns: [...columns] },
      rows: client.query(copyTo(`copy (select ${list} from ${pg.escapeIdentifier(name)}) to stdout`)),
    };
  }
  yield {
    section: { kind: 'jobs', name: 'jobs', columns: JOB_COLUMNS },
    rows: client.query(copyTo(`copy (${JOBS}) to stdout`)),
  };
}
