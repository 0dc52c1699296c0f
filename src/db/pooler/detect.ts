import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { parseDatabaseUrl, withPooler, type Pooler } from '../../config/database-url.ts';
import { SECOND_MS } from '../../time.ts';
import { createClient } from '../connection/connection.ts';
import { getBackendKey } from '../pipeline/pg-internals.ts';

const CONNECT_MS = 10 * SECOND_MS;
/** A second connection that a pooler in session mode does not have is waited for this long. */
const SECOND_CONNECT_MS = 3 * SECOND_MS;

/** What the operator set: `auto` finds it out. */
export type PoolerSetting = 'auto' | 'none' | 'session' | 'transaction';

/** Returns the URL with a parameter for the pooler in front of the database, if it has none yet. */
export async function resolvePooler(databaseUrl: string, setting: PoolerSetting): Promise<string> {
  if (/[?&]pooler=/.test(databaseUrl)) return databaseUrl;
  if (setting === 'none' || setting === 'session') return withPooler(databaseUrl, setting);
  const found = await detectPooler(databaseUrl);
  if (setting === 'transaction') return withPooler(databaseUrl, found === 'prepared' ? found : setting);
  return withPooler(databaseUrl, found);
}

/** Whether each transaction can run on another connection to the server. */
export function isTransactionPooler(databaseUrl: string): boolean {
  const { pooler } = parseDatabaseUrl(databaseUrl);
  return pooler === 'transaction' || pooler === 'prepared';
}

/** Finds out what is between this process and PostgreSQL. Sends no parameter that a pooler could refuse. */
export async function detectPooler(databaseUrl: string): Promise<Pooler> {
  const url = withPooler(databaseUrl, 'session');
  const first = createClient(url, { purpose: 'start', connectMs: CONNECT_MS, isBare: true });
  const second = createClient(url, { purpose: 'start', connectMs: SECOND_CONNECT_MS, isBare: true });
  try {
    await first.connect();
    // A pooler gives out keys of its own for cancel requests.
    if ((await serverProcess(first)) === getBackendKey(first).processID) return 'none';
    const canConnect = await second.connect().then(
      () => true,
      () => false,
    );
    if (!canConnect || !(await sharesServers(first, second))) return 'session';
    return (await keepsStatements(first)) ? 'prepared' : 'transaction';
  } finally {
    await Promise.all([first, second].map((client) => client.end().catch(() => undefined)));
  }
}

async function serverProcess(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** Twenty times, because processes that start together can get the same ones for a while by taking turns. */
const ROUNDS = 20;
const PAUSE_MS_MAX = 5;

/** Whether two connections take turns on the same connections to the server. In session mode, each keeps its own. */
async function sharesServers(first: Client, second: Client): Promise<boolean> {
  const [ofFirst, ofSecond] = [await serverProcess(first), await serverProcess(second)];
  if (ofFirst === ofSecond) return true;
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each client gets the one that was used last, or the one that was not used for longest.
    if ((await serverProcess(first)) !== ofFirst || (await serverProcess(second)) !== ofSecond) return true;
    await sleep(Math.random() * PAUSE_MS_MAX);
  }
  return false;
}

/** Whether the pooler prepares statements on whichever connection to the server it uses: then it gives them its own names. */
async function keepsStatements(client: Client): Promise<boolean> {
  const name = 'roster_pooler_check';
  await client.query('begin');
  try {
    const { rows } = await client.query<{ name: string }>({
      name,
      text: `select name from pg_prepared_statements where statement like '%roster pooler check%'`,
    });
    const isKept = rows.length > 0 && rows.every((row) => row.name !== name);
    if (!isKept) await client.query(`deallocate ${name}`);
    return isKept;
  } catch {
    return false; // such as a statement of that name that an ended process left behind
  } finally {
    await client.query('rollback');
  }
}
