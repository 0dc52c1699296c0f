import type { AnyTRPCProcedure } from '@trpc/server';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { LOCK_ORDER } from '../../src/transactions/lock-order.ts';
import { firstPartyTokens, sessionOf } from '../oauth/first-party-flow.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { gainedIn, GAINS, readAccess } from './access-rows.ts';
import { outcomeOf, withKey, type Trpc } from './console.ts';
import { WITHOUT_CALLER } from './exempt-mutations.ts';
import { aScene, INPUTS, type Build, type Scene } from './mutations.ts';

const test = testWith(async () => {
  const api = await startApi();
  // What is written once a minute must not be what waits. It is written at the end.
  for (const log of [api.usage, api.denials, api.operatorReads]) await log.close();
  return api;
});

type Credential = { readonly table: string; readonly id: string; readonly secret: string };
type Kind = 'session' | 'api-key' | 'oauth-grant' | 'first-party' | 'operator-key';
type Mutation = { readonly path: string; readonly meta: Meta };
type Case = Mutation & { readonly name: string; readonly kind: Kind; readonly build: Build };

const PROCEDURES = appRouter._def.procedures as unknown as Readonly<Record<string, AnyTRPCProcedure>>; // flat by path
const metaOf = (path: string): Meta => (PROCEDURES[path]?._def.meta ?? {}) as Meta;

const MUTATIONS: readonly Mutation[] = Object.entries(PROCEDURES).flatMap(([path, { _def }]) =>
  _def.type === 'mutation' && WITHOUT_CALLER[path] === undefined ? [{ path, meta: metaOf(path) }] : [],
);

const kindsOf = ({ meta: { access } }: Mutation): readonly Kind[] => {
  if (access?.isOperatorApi) return ['operator-key'];
  if (access?.sessionOnly) return access.firstParty ? ['session', 'first-party'] : ['session'];
  return ['session', 'api-key', 'oauth-grant', 'first-party'];
};

/** The nightly run takes each mutation with every kind of credential, the others with one of them, in turn. */
const WITH_EVERY_KIND = process.env['WITH_EVERY_KIND'] === 'true';

const CASES: readonly Case[] = MUTATIONS.flatMap((mutation, index) =>
  buildsOf(mutation.path).flatMap(([way, build]) =>
    kindsOf(mutation)
      // First-party tokens never reach the operator's area (test/trpc/first-party.gate.test.ts).
      .filter((kind) => kind !== 'first-party' || way !== 'of the installation')
      .filter((_, at, kinds) => WITH_EVERY_KIND || at === index % kinds.length)
      .map((kind) => ({ ...mutation, kind, build, name: [mutation.path, way].join(' ').trim() })),
  ),
);

function buildsOf(path: string): [string, Build][] {
  const builds = INPUTS[path] ?? {};
  return typeof builds === 'function' ? [['', builds]] : Object.entries(builds);
}

async function credentialOf({ api, caller, visitor, operatorKey }: Scene, kind: Kind): Promise<Credential> {
  if (kind === 'operator-key') return { table: 'operator_key', ...operatorKey };
  if (kind === 'api-key') return { table: 'api_key', ...(await api.anApiKey(caller, { scopes: SCOPES })) };
  if (kind === 'oauth-grant') return { table: 'oauth_grant', ...(await api.aGrant(caller, { scopes: SCOPES })) };
  const session = { table: 'session', id: await sessionOf(api, visitor) };
  if (kind === 'session') return { ...session, secret: '' };
  const client = await api.anOAuthClient({ confidential: true, firstParty: SCOPES });
  const { access } = await firstPartyTokens(api, { client, visitor }, { scope: SCOPES.join(' ') });
  return { ...session, secret: access };
}

/** Makes a call: over REST where that has the mutation and the credential is none of a browser, else over tRPC. */
async function callIt(scene: Scene, { meta, path, kind }: Case, { secret }: Credential, input: unknown) {
  const { openapi } = meta;
  if (kind === 'session' || openapi === undefined) {
    const trpc = kind === 'session' ? scene.trpc : withKey(scene.api, { secret });
    return outcomeOf(mutate(trpc, path, input));
  }
  const { upload, ...body } = { ...(input as Record<string, string>) };
  const target = openapi.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = body[name];
    delete body[name];
    return value ?? '';
  });
  const type = upload === undefined ? 'application/json' : 'application/x-ndjson';
  const sent = openapi.method === 'DELETE' ? {} : { body: upload ?? JSON.stringify(body) };
  const headers = openapi.method === 'DELETE' ? {} : { 'content-type': type };
  const answer: Answer = await scene.api.as(secret).send({ method: openapi.method, path: target, headers, ...sent });
  return answer.status < 400 ? 'done' : (answer.body.code as string);
}

/** Calls a procedure that is named by its path. */
function mutate(trpc: Trpc, path: string, input: unknown): Promise<unknown> {
  type Called = { mutate(input: unknown): Promise<unknown> };
  const found = path.split('.').reduce((at, name) => (at as Record<string, unknown>)[name], trpc as unknown);
  return (found as Called).mutate(input); // a path of the router
}

/** What no change of a caller locks or is compared by. */
const ASIDE = ['audit_link', 'audit_head', 'audit_pending', 'event_payload', 'mikro_orm_migrations'];

const tablesOf = async (rows: Api['rows']): Promise<string[]> => {
  const found = await rows<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind = 'r' order by 1`,
  );
  return found.map(({ name }) => name).filter((name) => !ASIDE.some((aside) => name.startsWith(aside)));
};

/** All rows. */
async function stateOf(rows: Api['rows'], tables: readonly string[]) {
  const parts = tables.map((table) => `select '${table}' as at, to_jsonb(t) as row from "${table}" t`);
  const jobs = `select 'job', to_jsonb(j) from graphile_worker._private_jobs j`;
  const found = await rows<{ row: string }>(
    `select at || ' ' || row::text as row from (${[...parts, jobs].join(' union all ')}) all_rows
     order by 1`,
  );
  return found.map(({ row }) => row);
}

const without = (rows: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return rows.filter((row) => !known.has(row));
};

const WAITING = `select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))`;

async function connected<R>({ databaseUrl }: Api, use: (rows: Api['rows']) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await use(async (sql, values) => (await client.query(sql, [...(values ?? [])])).rows);
  } finally {
    await client.end();
  }
}

/** Ends a credential, as the service does. */
async function revoke(rows: Api['rows'], { table, id }: Credential): Promise<void> {
  await rows(`select from ${table} where id = $1 for update`, [id]);
  await rows(`update ${table} set revoked_at = now() where id = $1`, [id]);
}

/**
 * Makes a mutation wait for the rows of a table, or of any, ends its credential meanwhile, and lets it go on. Where the
 * mutation has locked its credential before, the end waits for it.
 */
const whileWaiting = (scene: Scene, one: Case, credential: Credential, input: unknown, table?: string) =>
  connected(scene.api, (rows) =>
    connected(scene.api, async (ofAnother) => {
      const { api } = scene;
      const tables = await tablesOf(api.rows);
      await rows('begin');
      for (const held of table === undefined ? tables : [table]) await rows(`select from "${held}" for update`);
      if (table === undefined) {
        // A mutation that locks no row waits for what it inserts, at the latest its event.
        await rows(`lock table ${tables.map((held) => `"${held}"`).join(', ')} in share mode`);
        await rows('select from graphile_worker._private_jobs for update');
      }
      const call = callIt(scene, one, credential, input);
      let early: string | undefined;
      void call.then((outcome) => (early = outcome));
      await expect.poll(async () => early ?? (await rows(WAITING)).length, { interval: 5 }).not.toBe(0);
      if (early !== undefined) throw new Error(`It waits for no lock: ${early}`);

      const isHeld = table === undefined || table === credential.table;
      const [another] = await ofAnother<{ pid: number }>('select pg_backend_pid() as pid');
      let isRevoked = false;
      const revoked = revoke(isHeld ? rows : ofAnother, credential).then(() => (isRevoked = true));
      const blocked = async () => (await api.rows('select pg_blocking_pids($1) as pids', [another?.pid]))[0];
      await expect
        .poll(async () => isRevoked || ((await blocked()) as { pids: number[] }).pids.length > 0, { interval: 5 })
        .toBe(true);
      const waits = !isRevoked;
      const before = await stateOf(rows, tables);
      await rows('commit');
      const outcome = await call;
      await revoked;
      const after = await stateOf(api.rows, tables);
      await api.rows(`update ${credential.table} set revoked_at = null where id = $1`, [credential.id]);
      if (waits) return { waits, outcome };
      // A challenge is answered once, also by an answer that is refused.
      const lost = without(before, after).filter((row) => !row.startsWith('passkey_challenge '));
      return { outcome, changed: [lost, without(after, before)] };
    }),
  );

const REFUSED = { outcome: 'credential_invalid', changed: [[], []] };
const ORDERED = { waits: true, outcome: 'done' };

/** Deletes the rows of earlier tests, because each look reads all rows. The system's roles and the events stay. */
const forgetOthers = (api: Api) =>
  connected(api, async (rows) => {
    await rows('set session_replication_role = replica');
    const kept = new Set(['role', 'audit_event']);
    for (const table of await tablesOf(rows)) if (!kept.has(table)) await rows(`delete from "${table}"`);
    await rows('delete from role where team_id is not null');
    await rows('delete from graphile_worker._private_jobs');
  });

type Holder = { readonly table: string; readonly pid: number; readonly client: pg.Client };

let holders: Promise<readonly Holder[]> | undefined;

/** A connection for each table, until the database is dropped. */
const openHolders = ({ databaseUrl }: Api): Promise<readonly Holder[]> =>
  Promise.all(
    LOCK_ORDER.map(async (table) => {
      const client = new pg.Client({ connectionString: databaseUrl });
      client.on('error', () => undefined);
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      return { table, client, pid: rows[0]?.pid ?? 0 };
    }),
  );

/** Makes a call while every table is held, and lets go of the one that it waits for. @returns its outcome, and those tables */
async function findLocks(api: Api, makeCall: () => Promise<string>) {
  const held = new Map((await (holders ??= openHolders(api))).map((holder) => [holder.pid, holder]));
  for (const { client, table } of held.values()) await client.query(`begin; select from "${table}" for update`);
  const tables: string[] = [];
  const call = makeCall();
  let outcome: string | undefined;
  void call.then((done) => (outcome = done));
  const blocking = async () => {
    const found = await api.rows<{ pid: number }>(
      `select distinct unnest(pg_blocking_pids(pid)) as pid from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return found.map(({ pid }) => pid).filter((pid) => held.has(pid));
  };
  while (outcome === undefined) {
    let pids: number[] = [];
    await expect.poll(async () => outcome ?? (pids = await blocking()).length, { interval: 5 }).not.toBe(0);
    for (const pid of pids) {
      const { table, client } = held.get(pid)!;
      tables.push(table);
      held.delete(pid);
      await client.query('commit');
    }
  }
  for (const { client } of held.values()) await client.query('commit');
  return { outcome, tables };
}

/** Gives a key or grant all that the catalogue declares, which it can hand on. */
const holdDeclared = ({ rows }: Api, { table, id }: Credential) =>
  rows(`update ${table} set product_permissions = array(select name from declared_permission) where id = $1`, [id]);

describe('a change whose credential is revoked while it waits for a lock', () => {
  test('is made by a mutation whose input is known, or the table says why no credential makes it', () => {
    const named = MUTATIONS.map(({ path }) => path);

    expect(Object.keys(INPUTS).toSorted()).toEqual(named.toSorted());
    expect(named.length).toBeGreaterThan(130);
    for (const path of Object.keys(WITHOUT_CALLER)) {
      const { access, readsOnly = false } = metaOf(path);
      expect([path, access === undefined || readsOnly]).toEqual([path, true]);
    }
  });

  test.for(CASES)(
    '$name by $kind is 401 and changes nothing, whichever lock; with the credential it is done',
    async (one, { api }) => {
      await forgetOthers(api);
      const prepare = async () => {
        // There can be a hundred at once.
        await api.rows('update operator_key set revoked_at = now() where revoked_at is null');
        await api.rows(`update oauth_client set deleted_at = now() where source = 'operator'`);
        await api.rows('delete from webhook_endpoint where team_id is null');
        const scene = await aScene(api);
        if (one.meta.access?.operatorOnly || one.name.endsWith('of the installation'))
          await api.rows(`update account set role = 'admin' where id = $1`, [scene.caller.id]);
        const made = { scene, credential: await credentialOf(scene, one.kind), input: await one.build(scene) };
        if (one.kind === 'api-key' || one.kind === 'oauth-grant') await holdDeclared(api, made.credential);
        return made;
      };
      const { scene, credential, input } = await prepare();
      const tables = await tablesOf(api.rows);
      expect(await whileWaiting(scene, one, credential, input)).toEqual(REFUSED);

      const again = one.path.startsWith('passkeys.') ? await one.build(scene) : input;
      const [refused, access] = [await stateOf(api.rows, tables), await readAccess(api)];
      const locks = await findLocks(api, () => callIt(scene, one, credential, again));
      expect(locks.outcome).toBe('done');
      expect(await stateOf(api.rows, tables)).not.toEqual(refused);
      if (one.meta.effect === 'none') {
        const [, ...allowed] = GAINS[one.path] ?? [''];
        const gained = gainedIn(access, await readAccess(api));
        expect(gained.filter((table) => !allowed.includes(table))).toEqual([]);
      }

      const [, ...later] = locks.tables;
      if (later.length === 0) return;
      let next = await prepare();
      for (const table of later) {
        const ended = await whileWaiting(next.scene, one, next.credential, next.input, table);
        expect({ table, ...ended }).toEqual({ table, ...('waits' in ended ? ORDERED : REFUSED) });
        if ('waits' in ended) next = await prepare();
      }
    },
  );
});
