import { Client, DatabaseError } from 'pg';
import { SUPERUSER } from './cluster.ts';
import { EmbeddedError } from './home.ts';

const DATABASE = 'roster';

export type Credentials = { port: number; password: string };

export function urlOf({ port, password }: Credentials): string {
  return `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${DATABASE}`;
}

/**
 * Logs in to our database, which is made if it is missing, and gives the life-line that the server's starter named;
 * undefined when the server is not there to let us in.
 */
export async function login(credentials: Credentials): Promise<string | undefined> {
  try {
    return await lifeLineOf(credentials);
  } catch (error) {
    if (stateOf(error) !== '3D000') return refused(error);
  }
  try {
    await withClient(credentials, 'postgres', (client) => client.query(`create database ${DATABASE}`));
  } catch (error) {
    // Another process made it at the same moment.
    if (!['42P04', '23505'].includes(stateOf(error) ?? '')) return refused(error);
  }
  return lifeLineOf(credentials).catch(refused);
}

function lifeLineOf(credentials: Credentials): Promise<string> {
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
  // A server that is killed meanwhile is told by the query that fails.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

// A wrong password stays wrong; everything else is a server that is starting, stopping, full or gone.
function refused(error: unknown): undefined {
  if (['28P01', '28000'].includes(stateOf(error) ?? '')) {
    throw new EmbeddedError(
      'DATA_DIR: the embedded PostgreSQL rejects the password in `roster.password` of its data directory: restore that file',
    );
  }
  return undefined;
}

function stateOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}
