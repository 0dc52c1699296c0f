import { request } from 'node:http';
import pg from 'pg';
import { SCOPES } from '../../src/entities/index.ts';
import type { Api } from '../support/api.ts';

/** How many requests of one account or credential, or for one team, can be at work or waiting. */
export const QUEUE = 100;

/** An account with a team and a key. */
export async function aTenant(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: SCOPES });
  return { owner, team, key, path: `/api/v1/teams/${team.id}` };
}

/** Holds a lock from outside of the service. */
export async function holdLock(api: Api, statement: string, values: readonly string[] = []) {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  await client.query(statement, [...values]);
  return { release: () => client.end() };
}

/** How many statements wait for a lock in PostgreSQL. */
export async function countLockWaits(api: Api): Promise<number> {
  const [row] = await api.rows<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

/** Sends a request on a connection of its own, which its client can give up. */
export function send(api: Api, { secret }: { secret: string }, method: string, path: string, body?: object) {
  const sent = request({
    port: api.port,
    host: '127.0.0.1',
    method,
    path,
    agent: false,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  });
  const status = new Promise<number | undefined>((resolve) =>
    sent.once('response', (answer) => answer.resume().once('end', () => resolve(answer.statusCode))),
  );
  sent.on('error', () => undefined);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return { hangUp: () => sent.destroy(), status };
}
