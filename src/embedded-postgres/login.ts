import { Client, DatabaseError } from 'pg';
import { SUPERUSER } from './cluster.ts';
import { describeDamage, isDamage } from './damage.ts';
import { EmbeddedError } from './home.ts';
import { SECOND_MS } from '../time.ts';

const DATABASE = 'roster';

const CONNECT_MS = 5 * SECOND_MS;
/** Creating the database copies a template, which takes seconds on a slow disk. */
const STATEMENT_MS = 60 * SECOND_MS;

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
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
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

const damaged = (error: unknown) => new EmbeddedError(describeDamage(toText(error)));

// Retried are errors of PostgreSQL and the socket, which come from a server that starts, stops, is full or was killed.
// Permanent are a rejected password, missing or corrupted files, and all errors of the client itself.
function rejectPermanent(error: unknown): undefined {
  const state = getSqlState(error);
  if (state !== undefined && isDamage(state)) throw damaged(error);
  if (state === '28P01' || state === '28000' || isSaslError(error)) throw new EmbeddedError(PASSWORD_REJECTED);
  if (state === undefined && !isSocketError(error))
    throw new EmbeddedError(`DATA_DIR: the login to the embedded PostgreSQL failed: ${toText(error)}`);
  return undefined;
}

const PASSWORD_REJECTED =
  'DATA_DIR: the embedded PostgreSQL rejects the password in `roster.password` of its data directory: restore that file';

/** The client itself rejects an empty password, and responses of the server that do not match the password. */
const isSaslError = (error: unknown): boolean => /^SASL\b/.test(toText(error));

/** pg reports some lost connections and its own time limits without a code. */
const isSocketError = (error: unknown): boolean =>
  error instanceof Error && ('code' in error || /terminated|timeout|not queryable/.test(error.message));

const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function getSqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}
