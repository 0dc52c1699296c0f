import { createHmac } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { chainEvents } from '../../src/events/chain/append.ts';
import { readCheckpoints } from '../../src/events/chain/checkpoints.ts';
import { signOldCheckpoint } from '../../src/events/chain/hash-chain.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { startApi, type Api } from '../support/api.ts';
import { as } from '../trpc/console.ts';

export const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const chain = ({ services }: Api) => chainEvents(services, log);
export const verify = ({ services }: Api) => verifyAudit(services);

/** The same service after a restart: it does not remember where it ended the chain. */
export const anotherProcess = ({ services }: Api) => ({ ...services, db: { ...services.db } });

/** Takes the chain away and has the service begin it again. */
export const UNCHAIN = [
  'delete from audit_link',
  'delete from audit_checkpoint',
  'update audit_head set sequence = null, hash = null, signature = null',
  'insert into audit_pending select id from audit_event',
];

/** A service of the test's own, whose log has so many events, all of them in the chain. */
export async function createLog(events = 5, settings: Record<string, string> = {}): Promise<Api> {
  const api = await startLog(events, settings);
  onTestFinished(() => api.close());
  return api;
}

/** The same for several tests. Close it after them. */
export async function startLog(events = 5, settings: Record<string, string> = {}): Promise<Api> {
  const api = await startApi(settings);
  await more(api, events);
  await chain(api);
  return api;
}

const LOG = ['audit_event', 'audit_link', 'audit_head', 'audit_checkpoint', 'audit_pending'];

/** Keeps a copy of the log. @returns what puts it back */
export async function keepLog(api: Api): Promise<() => Promise<void>> {
  await tamper(api, 'create schema kept', ...LOG.map((table) => `create table kept.${table} as table ${table}`));
  const putBack = (table: string) => [`delete from ${table}`, `insert into ${table} select * from kept.${table}`];
  return () => tamper(api, ...LOG.flatMap(putBack));
}

export async function more(api: Api, events: number): Promise<void> {
  const trpc = await as(api, await api.anAccount());
  // What changes nothing is not recorded.
  for (let i = 0; i < events; i += 1)
    await trpc.account.updateProfile.mutate({ preferredLocale: i % 2 === 0 ? 'de' : 'fr' });
}

/** What somebody does who owns the database, past every trigger. */
export async function tamper(api: Api, ...statements: string[]): Promise<void> {
  api.allowStrayEvents();
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  await client.query('set session_replication_role = replica');
  for (const sql of statements) await client.query(sql);
  await client.end();
}

/** Deletes positions with the statements of versions that did not sign the beginning of the chain, as their replicas do. */
export async function pruneAsBefore(api: Api, sequence: number): Promise<void> {
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  try {
    await client.query(`begin; select set_config('roster.retention', 'on', true)`);
    await client.query(
      `with cut as materialized (delete from audit_link where sequence <= $1 returning event_id),
         of_first as (delete from audit_event_first where id = any(array(select event_id from cut))),
         of_other as (delete from audit_event_other where id = any(array(select event_id from cut))),
         young as (delete from audit_event where id = any(array(select event_id from cut where event_id >= $2))
           and tableoid not in ('audit_event_first'::regclass, 'audit_event_other'::regclass)),
         moved as (update audit_head set pruned_before = greatest(pruned_before, $2))
       select event_id as id from cut`,
      [sequence, 'evt_0'],
    );
    await client.query('delete from audit_checkpoint where sequence <= $1', [sequence]);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

const COLUMNS = {
  audit_head: ['sequence', 'hash', 'signature', 'root_sequence', 'root_hash', 'root_at', 'pruned_before'],
  audit_checkpoint: ['created_at', 'started_at', 'unsigned_until', 'is_root'],
};
COLUMNS.audit_checkpoint.push(...COLUMNS.audit_head);

/** Returns the statement with which somebody puts back what is signed in a row now. */
async function saved(api: Api, table: keyof typeof COLUMNS, where = 'true'): Promise<string> {
  const columns = COLUMNS[table].map((column) => `'${column} = ' || quote_nullable(${column})`);
  const [row] = await api.rows<{ sql: string }>(
    `select concat_ws(', ', ${columns.join(', ')}) as sql from ${table} where ${where} order by sequence desc limit 1`,
  );
  return `update ${table} set ${row?.sql}`;
}

/** The statement with which somebody puts back the signed end that there is now. */
export const savedHead = (api: Api): Promise<string> => saved(api, 'audit_head');

/** The statement with which somebody makes the newest checkpoint the one that is the newest now. */
export const savedCheckpoint = async (api: Api): Promise<string> =>
  `${await saved(api, 'audit_checkpoint')} where sequence = (select max(sequence) from audit_checkpoint)`;

export const insertForged = (at: string) =>
  `insert into audit_event (id, occurred_at, event, actor_kind, details) values ('evt_0', ${at}, 'team.created', 'system', '{}')`;

/** Signs end and checkpoints as versions did that did not sign the beginning of the chain. */
export async function signAsBefore(api: Api): Promise<void> {
  const { db, encryption } = api.services;
  const checkpoints = await readCheckpoints(db.orm.em.fork(), 'true order by sequence');
  const [key] = encryption.keysFor('audit-checkpoint');
  const [headKey] = encryption.keysFor('audit-head');
  const [head] = await api.rows<{ sequence: string; hash: string }>(
    `select sequence, encode(hash, 'hex') as hash from audit_head`,
  );
  if (key === undefined || headKey === undefined || head === undefined) throw new Error('There is no chain.');
  const signature = createHmac('sha256', headKey)
    .update(JSON.stringify([Number(head.sequence), head.hash]))
    .digest('hex');
  const unsigned = 'root_sequence = null, root_hash = null, root_at = null';
  await tamper(
    api,
    `update audit_head set signature = decode('${signature}', 'hex'), ${unsigned}`,
    ...checkpoints.map(
      (checkpoint) => `update audit_checkpoint set ${unsigned}, pruned_before = null,
        signature = decode('${signOldCheckpoint(key, checkpoint)}', 'hex') where sequence = ${checkpoint.sequence}`,
    ),
  );
}
