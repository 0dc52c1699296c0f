import { Client, DatabaseError } from 'pg';
import { SUPERUSER } from './cluster.ts';
import { isDamage } from './damage.ts';
import { EmbeddedError } from './home.ts';

const DATABASE = 'roster';

export type Credentials = { port: number; password: string };

export function createDatabaseUrl({ port, password }: Credentials): string {
  return `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${DATABASE}`;
}

/**
 * Logs in to the database of the service, and creates it if it does not exist.
 * @returns the path of the life-line, or undefined if the server does not accept connections
 */
export async function login(credentials: Credentials): Promise<string | undefined> {
  try {
    return await readLifeLine(credentials);
  } catch (error) {
    if (getSqlState(error) !== '3D000') return rejectPermanent(error);
  }
  try {
    await withClient(credentials, 'postgres', (client) => client.query(`create database ${DATABASE}`));
  } catch (error) {
    // Another process created it concurrently.
    if (getSqlState(error) === '3D000') throw damaged(error);
    if (!['42P04', '23505'].includes(getSqlState(error) ?? '')) return rejectPermanent(error);
  }
  return readLifeLine(credentials).catch(rejectPermanent);
}

function readLifeLine(credentials: Credentials): Promise<string> {
  return withClient(credentials, DATABASE, async (client) => {
    const { rows } = await client.query<{ line: string | null }>(
      `select current_setting('roster.life_line', true) as line`,
    );
    return rows[0]?.line ?? '';
  });
}

async function withClient<T>(
  { port, password }: Credentials,
  database: string,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database,
    ssl: false,
    connectionTimeoutMillis: 5000,
  });
  // If the server is killed, the pending query fails with the same error.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

const damaged = (error: unknown) =>
  new EmbeddedError(
    `DATA_DIR: the files of the embedded PostgreSQL are damaged: restore a backup (${error instanceof Error ? error.message : String(error)})`,
  );

// Only a wrong password and missing or corrupted files are permanent. All other errors come from a server that starts, stops, is full or was killed.
function rejectPermanent(error: unknown): undefined {
  if (isDamage(getSqlState(error) ?? '')) throw damaged(error);
  if (['28P01', '28000'].includes(getSqlState(error) ?? '')) {
    throw new EmbeddedError(
      'DATA_DIR: the embedded PostgreSQL rejects the password in `roster.password` of its data directory: restore that file',
    );
  }
  return undefined;
}

function getSqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}
