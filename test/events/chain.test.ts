import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { CHECKPOINT_KEYS, signCheckpoint } from '../../src/events/chain/hash-chain.ts';
import { chainEvents } from '../../src/events/chain/append.ts';
import { trimEvents } from '../../src/events/chain/retention.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { createSealer } from '../../src/crypto/encryption.ts';
import { startApi, test as shared, type Api } from '../support/api.ts';
import { as } from '../trpc/console.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const chain = ({ services }: Api) => chainEvents(services, log);
const verify = ({ services }: Api) => verifyAudit(services);

/** A service of the test's own, whose log has so many events, all of them in the chain. */
async function aLog(events = 5, settings: Record<string, string> = {}): Promise<Api> {
  const api = await startApi(settings);
  onTestFinished(() => api.close());
  await more(api, events);
  await chain(api);
  return api;
}

async function more(api: Api, events: number): Promise<void> {
  const trpc = await as(api, await api.anAccount());
  for (let i = 0; i < events; i += 1) await trpc.account.updateProfile.mutate({ preferredLocale: 'de' });
}

/** What somebody does who owns the database, past every trigger. */
async function tamper(api: Api, ...statements: string[]): Promise<void> {
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  await client.query('set session_replication_role = replica');
  for (const sql of statements) await client.query(sql);
  await client.end();
}

const third = '(select event_id from audit_link where sequence = 3)';

describe('the chain', () => {
  shared('takes in what was recorded, and goes on where it ended', async () => {
    const api = await aLog(3);
    expect(await verify(api)).toMatchObject({ fault: null, events: 3, pending: 0, end: { sequence: 3 } });

    await more(api, 2);
    expect(await verify(api)).toMatchObject({ fault: null, events: 3, pending: 2 });
    expect(await chain(api)).toBe(2);
    expect(await chain(api)).toBe(0);
    expect(await verify(api)).toMatchObject({ fault: null, events: 5, pending: 0 });
  });

  // Guarantees that no high-water mark passes over an event whose transaction took its time.
  shared('takes in an event that is committed after later ones', async () => {
    const api = await aLog(1);
    const late = new pg.Client(api.databaseUrl);
    await late.connect();
    await late.query('begin');
    await late.query(
      `insert into audit_event (id, occurred_at, event, actor_kind, details) values ('evt_0', now(), 'team.created', 'system', '{}')`,
    );
    await more(api, 2);
    expect(await chain(api)).toBe(2);
    await late.query('commit');
    await late.end();

    expect(await chain(api)).toBe(1);
    expect(await verify(api)).toMatchObject({ fault: null, events: 4, pending: 0 });
  });

  shared('of several that add to it at once nothing comes twice', async () => {
    const api = await aLog(0);
    await more(api, 6);

    await Promise.all(Array.from({ length: 4 }, () => chain(api)));
    await chain(api);

    expect(await verify(api)).toMatchObject({ fault: null, events: 6, pending: 0 });
  });

  shared('is added to by the worker', async () => {
    const api = await aLog(0);
    await more(api, 1);
    await api.rows(`select graphile_worker.add_job('chainAudit')`);
    await api.visitor().trpc.auth.signUp.mutate({ email: 'w@example.com', password: 'wandering heron 42' });
    await api.mailTo('w@example.com');

    await expect.poll(async () => (await verify(api)).events, { timeout: 10_000 }).toBeGreaterThan(0);
  });
});

describe('verifying tells of', () => {
  shared.for([
    [
      'an event that was changed',
      'event_changed',
      3,
      [`update audit_event set actor_id = 'acc_other' where id = ${third}`],
    ],
    [
      'a time that was changed',
      'event_changed',
      3,
      [`update audit_event set occurred_at = occurred_at - interval '1 ms' where id = ${third}`],
    ],
    [
      'details that were changed',
      'event_changed',
      3,
      [`update audit_event set details = '{"a":1}' where id = ${third}`],
    ],
    ['an event that was deleted', 'event_missing', 3, [`delete from audit_event where id = ${third}`]],
    [
      'an event that was deleted with its link',
      'link_missing',
      3,
      [`delete from audit_event where id = ${third}`, 'delete from audit_link where sequence = 3'],
    ],
    [
      'an event that was slipped in',
      'event_unchained',
      null,
      [
        `insert into audit_event (id, occurred_at, event, actor_kind, details) values ('evt_0', now(), 'team.created', 'system', '{}')`,
      ],
    ],
    [
      'two events that changed places',
      'event_changed',
      2,
      [
        'create temp table swapped as select sequence, event_id from audit_link where sequence in (2, 3)',
        `update audit_link set event_id = event_id || '_' where sequence in (2, 3)`,
        'update audit_link l set event_id = s.event_id from swapped s where l.sequence + s.sequence = 5',
      ],
    ],
    [
      'an end that was cut off',
      'end_missing',
      4,
      [
        `delete from audit_event where id in (select event_id from audit_link where sequence > 3)`,
        'delete from audit_link where sequence > 3',
      ],
    ],
    [
      'a checkpoint that nobody signed',
      'checkpoint_not_signed',
      5,
      [`update audit_checkpoint set signature = sha256('x')`],
    ],
    ['a checkpoint for another hash', 'checkpoint_differs', 5, [`update audit_checkpoint set hash = sha256('x')`]],
    [
      'a beginning that was cut off',
      'link_missing',
      1,
      [
        `delete from audit_event where id in (select event_id from audit_link where sequence < 4)`,
        'delete from audit_link where sequence < 4',
      ],
    ],
  ] as const)('%s', async ([, kind, sequence, statements]) => {
    const api = await aLog(5);
    await tamper(api, ...statements);

    const { fault } = await verify(api);
    expect(fault).toMatchObject({ kind, sequence });
  });

  // Guarantees that hashes which somebody computes anew do not pass: they cannot sign the end of them.
  shared('an event and all hashes after it that were computed anew', async () => {
    const api = await aLog(4);
    await tamper(
      api,
      `update audit_event set actor_id = 'acc_other' where id = ${third}`,
      'delete from audit_link',
      'insert into audit_pending select id from audit_event',
    );
    const forger = { ...api.services, sealer: createSealer(['another-key-another-key-another-key']) };
    await tamper(api, 'delete from audit_checkpoint');
    await chainEvents(forger, log);

    expect((await verify(api)).fault).toMatchObject({ kind: 'checkpoint_not_signed' });
  });

  // Guarantees that a copy of the log's checkpoints tells what the database alone cannot.
  shared('an end that was cut off with its checkpoints, to whoever knows one of them', async () => {
    const api = await aLog(3);
    await more(api, 2);
    await chain(api);
    const { end } = await verify(api);
    const after = 'where sequence > 3';
    await tamper(
      api,
      `delete from audit_event where id in (select event_id from audit_link ${after})`,
      `delete from audit_link ${after}`,
      `delete from audit_checkpoint ${after}`,
    );

    expect((await verify(api)).fault).toBeNull();
    expect((await verifyAudit(api.services, end)).fault).toMatchObject({ kind: 'end_missing', sequence: 4 });
  });

  shared('nothing where a key was added in front: all of SECRET_KEYS verify', async () => {
    const api = await aLog(2);
    const keys = ['a-newer-key-a-newer-key-a-newer-key', ...(api.services.config.secretKeys ?? [])];

    expect((await verifyAudit({ ...api.services, sealer: createSealer(keys) })).fault).toBeNull();
  });
});

describe('retention', () => {
  const age = (api: Api, days: number) =>
    tamper(api, `update audit_checkpoint set created_at = created_at - interval '${days} days'`);

  /** The checkpoints as they would be if they had been signed so long ago. */
  async function resign(api: Api): Promise<void> {
    const rows = await api.rows<{ sequence: string; hash: string; is_root: boolean; created_at: string }>(
      `select sequence, encode(hash, 'hex') as hash, is_root, created_at from audit_checkpoint`,
    );
    const [key = Buffer.alloc(0)] = api.services.sealer.keysFor(CHECKPOINT_KEYS);
    for (const { sequence, hash, is_root: isRoot, created_at: at } of rows) {
      const checkpoint = { sequence: Number(sequence), hash, isRoot, createdAt: new Date(at).toISOString() };
      await tamper(
        api,
        `update audit_checkpoint set signature = '\\x${signCheckpoint(key, checkpoint)}' where sequence = ${sequence}`,
      );
    }
  }

  shared('deletes whole stretches that are too old, and what is left can be verified', async () => {
    const api = await aLog(3, { AUDIT_DAYS: '30' });
    await age(api, 31);
    await resign(api);
    await more(api, 2);
    await chain(api);

    expect(await trimEvents(api.services)).toBe(3);
    await chain(api);

    const events = await api.rows<{ event: string }>('select event from audit_event order by id');
    expect(events.map(({ event }) => event)).toEqual([
      'account.profile_changed',
      'account.profile_changed',
      'audit_log.pruned',
    ]);
    expect(await verify(api)).toMatchObject({ fault: null, events: 3, end: { sequence: 6 } });
  });

  shared('deletes nothing that is young enough', async () => {
    const api = await aLog(3, { AUDIT_DAYS: '30' });
    await age(api, 29);

    expect(await trimEvents(api.services)).toBe(0);
  });

  shared('leaves a chain that goes on where nothing is left', async () => {
    const api = await aLog(3, { AUDIT_DAYS: '30' });
    await age(api, 31);
    await trimEvents(api.services);
    await chain(api);

    expect(await verify(api)).toMatchObject({ fault: null, events: 1, end: { sequence: 4 } });
  });
});
