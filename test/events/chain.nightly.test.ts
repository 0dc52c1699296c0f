import { inChange } from '../support/in-change.ts';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { firstIdAt } from '../../src/entities/index.ts';
import { useEventKey } from '../../src/events/chain/event-mac.ts';
import { recordNow } from '../../src/transactions/record-now.ts';
import { GENESIS } from '../../src/events/chain/hash-chain.ts';
import { chainEvents, numberEvents } from '../../src/events/chain/append.ts';
import { pruneEvents } from '../../src/events/chain/retention.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { test as shared, type Api } from '../support/api.ts';
import {
  anotherProcess,
  chain,
  createLog,
  insertForged,
  log,
  more,
  savedHead,
  signAsBefore,
  tamper,
  UNCHAIN,
  verify,
} from './chain-log.ts';

const replacedTrigger = (events: string): readonly string[] => [
  'drop trigger audit_link_append_only on audit_link',
  `create trigger audit_link_append_only before ${events} on audit_link for each statement
     execute function audit_append_only()`,
];

const third = '(select event_id from audit_link where sequence = 3)';

describe('the chain', () => {
  shared('takes in what was recorded, and goes on where it ended', async () => {
    const api = await createLog(3);
    expect(await verify(api)).toMatchObject({ fault: null, events: 3, pending: 0, end: { sequence: 3 } });

    await more(api, 2);
    expect(await verify(api)).toMatchObject({ fault: null, events: 3, pending: 2 });
    expect(await chain(api)).toBe(2);
    expect(await chain(api)).toBe(0);
    expect(await verify(api)).toMatchObject({ fault: null, events: 5, pending: 0 });
  });

  // Guarantees that no high-water mark passes over an event whose transaction took its time.
  shared('takes in an event that is committed after later ones', async () => {
    const api = await createLog(1);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: inserted, resolve: onInserted } = Promise.withResolvers<void>();
    const late = inChange(api.services.db, async ({ record, run }) => {
      record('team.created');
      await run([]);
      onInserted();
      await released;
    });
    await inserted;
    await more(api, 2);
    expect(await chain(api)).toBe(2);
    release();
    await late;

    expect(await chain(api)).toBe(1);
    expect(await verify(api)).toMatchObject({ fault: null, events: 4, pending: 0 });
  });

  // Guarantees that transaction ids, which mean nothing on another server, are not believed after a restore.
  shared.for([
    ['of another server', `update audit_head set server = 'another'`],
    ['of the future', `update audit_head set snapshot = '9000000000:9000000000:'`],
  ] as const)('takes in every event without a position where the snapshot is one %s', async ([, sql]) => {
    const api = await createLog(2);
    await more(api, 2);
    await tamper(api, sql);
    await more(api, 1);

    expect(await verify(api)).toMatchObject({ faults: [], events: 2, pending: 3 });
    expect((await numberEvents(api.services, log)).count).toBe(3);
    await more(api, 1);
    expect((await numberEvents(api.services, log)).count).toBe(1);
    expect(await verify(api)).toMatchObject({ faults: [], events: 6, pending: 0 });
  });

  // Guarantees that no crash between a batch and its checkpoint leaves an end that cannot be extended.
  shared('goes on in another process from where no checkpoint was signed yet', async () => {
    const api = await createLog(1);
    await more(api, 2);
    expect(await numberEvents(api.services, log)).toMatchObject({ count: 2 });
    await more(api, 1);

    expect(await numberEvents(anotherProcess(api), log)).toMatchObject({ count: 1 });
    expect(await api.rows('select sequence::int from audit_checkpoint order by sequence')).toEqual([{ sequence: 1 }]);
    expect(await verify(api)).toMatchObject({ faults: [], events: 4, pending: 0, end: { sequence: 4 } });
    expect(await chainEvents(anotherProcess(api), log)).toBe(0);
    expect(await api.rows('select sequence::int from audit_checkpoint order by sequence')).toEqual([
      { sequence: 1 },
      { sequence: 4 },
    ]);
  });

  shared('of several that append concurrently no event is chained twice', async () => {
    const api = await createLog(0);
    await more(api, 6);

    await Promise.all(Array.from({ length: 4 }, () => chain(api)));
    await chain(api);

    expect(await verify(api)).toMatchObject({ fault: null, events: 6, pending: 0 });
  });

  shared('is added to by the worker', async () => {
    const api = await createLog(0);
    await more(api, 1);
    await api.rows(`select graphile_worker.add_job('chainAudit')`);
    await api.visitor().trpc.auth.signUp.mutate({ email: 'w@example.com', password: 'wandering heron 42' });
    await api.mailTo('w@example.com');

    await expect.poll(async () => (await verify(api)).events).toBeGreaterThan(0);
  });
});

describe('verification reports', () => {
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
    ['an event that was slipped in with the triggers off', 'event_forged', null, [insertForged('now()')]],
    [
      'an event whose link was deleted with those after it',
      'event_unchained',
      null,
      ['delete from audit_link where sequence > 3'],
    ],
    ['an end that nobody signed', 'checkpoint_not_signed', 5, [`update audit_head set signature = sha256('x')`]],
    ['an end with another hash', 'checkpoint_differs', 5, [`update audit_head set hash = sha256('x')`]],
    [
      'an event that was slipped in and made pending',
      'event_forged',
      null,
      [insertForged('now()'), `insert into audit_pending values ('evt_0')`],
    ],
    [
      'an event that was moved to another team',
      'event_changed',
      3,
      [`update audit_event set team_id = 'team_other' where id = ${third}`],
    ],
    ['a MAC that was removed', 'event_changed', 3, [`update audit_event set mac = null where id = ${third}`]],
    ['all checkpoints that were deleted', 'checkpoint_missing', 1, ['delete from audit_checkpoint']],
    [
      'a trigger that was disabled',
      'trigger_disabled',
      null,
      ['alter table audit_event disable trigger audit_event_append_only'],
    ],
    ['a trigger that was dropped', 'trigger_missing', null, ['drop trigger audit_link_append_only on audit_link']],
    [
      'a trigger whose function was replaced',
      'trigger_changed',
      null,
      [
        'create or replace function audit_append_only() returns trigger language plpgsql as $$ begin return null; end $$',
      ],
    ],
    [
      'a trigger that was limited to a column',
      'trigger_changed',
      null,
      replacedTrigger('update of hash or delete or truncate'),
    ],
    ['a trigger that was limited to truncation', 'trigger_changed', null, replacedTrigger('truncate')],
    [
      'a trigger whose function was given a setting',
      'trigger_changed',
      null,
      [`alter function audit_append_only set roster.retention = 'on'`],
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
    const api = await createLog(5);
    await tamper(api, ...statements);

    const { faults } = await verify(api);
    expect(faults).toContainEqual(expect.objectContaining({ kind, sequence }));
  });

  // Guarantees that nothing swallows or hides events without a sign.
  shared('what acts on a table of the log, and is not of Roster', async () => {
    const api = await createLog(2);
    await tamper(api, 'create function swallow() returns trigger language plpgsql as $$ begin return null; end $$');
    const tables = await api.rows<{ name: string }>(
      `select c.relname as name from pg_class c
       where c.relkind in ('r', 'p') and c.relname like 'audit\\_%' order by 1`,
    );
    expect(tables.length).toBeGreaterThanOrEqual(8);
    for (const { name } of tables) {
      // Named like those of Roster, where there is none.
      const trigger = /head|pending/.test(name) ? `${name}_append_only` : 'swallow';
      for (const [sql, undo] of [
        [`create rule hide as on insert to ${name} do instead nothing`, `drop rule hide on ${name}`],
        [
          `create trigger ${trigger} before insert on ${name} for each row execute function swallow()`,
          `drop trigger ${trigger} on ${name}`,
        ],
        [`alter table ${name} enable row level security`, `alter table ${name} disable row level security`],
      ] as const) {
        await tamper(api, sql);
        const { faults } = await verify(api);
        await tamper(api, undo);
        expect([sql, new Set(faults.map(({ kind }) => kind))]).toEqual([sql, new Set(['table_changed'])]);
        expect(faults.some(({ trigger: named }) => named?.endsWith(` of ${name}`))).toBe(true);
      }
    }
    expect((await verify(api)).faults).toEqual([]);
  });

  // Guarantees that recomputed hashes fail: an attacker cannot sign their end.
  shared('an event whose hash and all later ones were recomputed', async () => {
    const api = await createLog(4);
    await tamper(api, `update audit_event set actor_id = 'acc_other' where id = ${third}`, ...UNCHAIN);
    const forger = { ...api.services, encryption: createEncryption(['another-key-another-key-another-key']) };
    await chainEvents(forger, log);

    const kinds = (await verify(api)).faults.map(({ kind }) => kind);
    expect(kinds).toContain('event_forged');
  });

  // Guarantees that the service does not sign forged rows, even if all triggers were removed and restored.
  shared('events that were altered and given to the service to chain and sign again', async () => {
    const api = await createLog(4);
    const [altered] = await api.rows<{ id: string }>(`select event_id as id from audit_link where sequence = 3`);
    await tamper(api, `update audit_event set actor_id = 'acc_other' where id = ${third}`, ...UNCHAIN);

    expect(await chainEvents(anotherProcess(api), log)).toBe(3);

    expect((await verify(api)).faults).toMatchObject([{ kind: 'event_forged', sequence: null, eventId: altered?.id }]);
  });

  shared('a restarted chain, by the data that is older', async () => {
    const api = await createLog(2);
    await api.rows(`update account set created_at = now() + interval '1 minute'`);
    await tamper(api, `update mikro_orm_migrations set executed_at = now() - interval '40 days'`);
    expect((await verify(api)).faults).toEqual([]);

    await api.rows(`update account set created_at = now() - interval '30 days'`);
    await tamper(api, ...UNCHAIN);
    await chainEvents(anotherProcess(api), log);

    expect((await verify(api)).faults).toMatchObject([{ kind: 'chain_restarted', sequence: 1 }]);
  });

  // Guarantees that an attacker cannot hide an event by a snapshot that claims it was seen.
  shared('an event whose transaction id was altered before it got its position', async () => {
    const api = await createLog(2);
    await more(api, 1);
    await tamper(api, `update audit_event set xid = '3' where not exists (select from audit_link where event_id = id)`);

    expect(await chain(api)).toBe(0);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'event_unchained', sequence: null }]);
  });

  // Guarantees that an attacker cannot extend the chain with hashes of their own, which are not secret.
  shared('a link that was added past the service, on top of which the service signs nothing', async () => {
    const api = await createLog(3);
    await tamper(
      api,
      insertForged('now()'),
      `insert into audit_link (sequence, event_id, hash) values (4, 'evt_0', sha256('x'))`,
    );
    await more(api, 1);

    expect(await chainEvents(anotherProcess(api), log)).toBe(0);
    const errors = vi.fn<(fields: object, message: string) => void>();
    await chainEvents(anotherProcess(api), { ...log, error: errors });
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ problem: 'end_differs' }), expect.any(String));
    expect((await verify(api)).fault).toMatchObject({ sequence: 4 });
  });

  shared('a plain insert that goes by the triggers, also of months ago, whatever else is chained', async () => {
    const api = await createLog(2);
    const id = firstIdAt('evt', new Date('2026-01-01'));
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, details)
       values ($1, '2026-01-01T00:00:00Z', 'team.deleted', 'system', '{}')`,
      [id],
    );
    await more(api, 1);

    expect(await chain(api)).toBe(1);
    expect(await verify(api)).toMatchObject({
      faults: [{ kind: 'event_forged', sequence: null, eventId: id }],
      events: 3,
      pending: 1,
    });
  });

  // Guarantees that many forged rows cannot keep genuine ones from being chained.
  shared('forged events, and chains the genuine ones behind them', async () => {
    const api = await createLog(0);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, details)
       select 'evt_0' || n, now(), 'team.deleted', 'system', '{}' from generate_series(1, 1500) n`,
    );
    await more(api, 1);

    expect(await chain(api)).toBe(1);
    expect((await verify(api)).fault).toMatchObject({ kind: 'event_forged' });
  });

  // Guarantees that a worker that was down is not taken for an attack.
  shared('an event that was chained long after it happened as late, which is no fault', async () => {
    const api = await createLog(0);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await recordNow(api.services.db, 'operator.searched', {});
    vi.useRealTimers();
    await chain(api);

    expect(await verify(api)).toMatchObject({ faults: [], late: { count: 1, sequence: 1 } });
  });

  // Guarantees what an upgrade needs: rows from before, and from replicas that are not replaced yet, are no attack.
  shared('events from before an upgrade as such, for an hour', async () => {
    const api = await createLog(1);
    await tamper(api, 'update audit_event set mac = null', ...UNCHAIN);
    // A checkpoint of the version before, which knew no periods.
    await tamper(
      api,
      `insert into audit_checkpoint (id, created_at, sequence, hash, is_root, signature)
       values ('chk_0', now(), 0, decode('${GENESIS.hash}', 'hex'), true, '')`,
    );
    await signAsBefore(api);
    await api.rows(insertForged('now()'));
    expect(await chainEvents(anotherProcess(api), log)).toBe(3); // with the event of the upgrade
    expect(await verify(api)).toMatchObject({ faults: [], unsigned: { count: 2, sequence: 1 } });

    await api.rows(insertForged('now()').replace('evt_0', 'evt_1'));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await chain(api)).toBe(0);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'event_forged', eventId: 'evt_1' }]);
  });

  // Guarantees that a log without its checkpoints does not pass as one that was just upgraded.
  shared('all events without a MAC, where no checkpoint vouches for an upgrade', async () => {
    const api = await createLog(2);
    await tamper(
      api,
      'update audit_event set mac = null',
      `update mikro_orm_migrations set executed_at = executed_at + interval '1 hour' where name like '%audit_macs'`,
      ...UNCHAIN,
    );

    expect(await chainEvents(anotherProcess(api), log)).toBe(0);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'event_forged' }, { kind: 'event_forged' }]);
  });

  shared('an older state that was put back, by the worker that signed a newer one', async () => {
    const api = await createLog(3);
    const restoreHead = await savedHead(api);
    await more(api, 2);
    await chain(api);
    await tamper(
      api,
      `delete from audit_event where id in (select event_id from audit_link where sequence > 3)`,
      'delete from audit_link where sequence > 3',
      'delete from audit_checkpoint where sequence > 3',
      restoreHead,
    );
    await more(api, 1);
    const errors = vi.fn<(fields: object, message: string) => void>();

    expect(await chainEvents(api.services, { ...log, error: errors })).toBe(0);
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ problem: 'end_missing' }), expect.any(String));
  });

  // Guarantees that a copy of the logged checkpoints reveals what the database alone cannot.
  shared('an end that was cut off with its checkpoints, if a known checkpoint is given', async () => {
    const api = await createLog(3);
    const restoreHead = await savedHead(api);
    await more(api, 2);
    await chain(api);
    const { end } = await verify(api);
    const after = 'where sequence > 3';
    await tamper(
      api,
      `delete from audit_event where id in (select event_id from audit_link ${after})`,
      `delete from audit_link ${after}`,
      `delete from audit_checkpoint ${after}`,
      restoreHead,
    );

    expect((await verify(api)).fault).toBeNull();
    expect((await verifyAudit(api.services, end)).fault).toMatchObject({ kind: 'end_missing', sequence: 4 });
  });

  // Guarantees the rotation that the documentation describes: a key in front, and a minute later the other one dropped.
  shared('nothing where SECRET_KEYS were rotated, at no step', async () => {
    const api = await createLog(2);
    const [old = ''] = api.services.config.secretKeys ?? [];
    const renewed = 'a-newer-key-a-newer-key-a-newer-key';
    const [both, only] = [createEncryption([renewed, old]), createEncryption([renewed])];

    expect(await verifyAudit({ ...api.services, encryption: both })).toMatchObject({
      faults: [],
      isSignedByFirstKey: false,
    });
    useEventKey(api.services.db, both);
    expect(await chainEvents({ ...api.services, encryption: both }, log)).toBe(1);
    expect(await verifyAudit({ ...api.services, encryption: both })).toMatchObject({
      faults: [],
      isSignedByFirstKey: true,
    });
    expect(await chainEvents({ ...api.services, encryption: both }, log)).toBe(0);

    expect(await verifyAudit({ ...api.services, encryption: only })).toMatchObject({ faults: [], events: 3 });
    await more(api, 1);
    expect(await chainEvents({ ...api.services, encryption: only }, log)).toBe(1);
    expect(await verifyAudit({ ...api.services, encryption: only })).toMatchObject({ faults: [], events: 4 });
  });
});

const idsOf = async (api: Api) => (await api.rows<{ id: string }>('select id from audit_event')).map(({ id }) => id);

describe('retention', () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

  shared('deletes whole ranges that are too old, and what is left can be verified', async () => {
    const api = await createLog(3, { AUDIT_DAYS: '30' });
    const firstIds = await idsOf(api);
    await more(api, 2);
    const at = inDays(30); // some milliseconds after the first checkpoint, and before the second
    await chain(api);

    expect(await pruneEvents(api.services, log, at)).toBe(3);
    await chain(api);

    const events = await api.rows<{ id: string; event: string }>('select id, event from audit_event order by id');
    expect(events.map(({ event }) => event)).toEqual([
      'account.profile_changed',
      'account.profile_changed',
      'audit_log.pruned',
    ]);
    expect(events.map(({ id }) => id).filter((id) => firstIds.includes(id))).toEqual([]);
    expect(await verify(api)).toMatchObject({ faults: [], events: 3, end: { sequence: 6 } });
  });

  shared('deletes nothing that is young enough', async () => {
    const api = await createLog(3, { AUDIT_DAYS: '30' });

    expect(await pruneEvents(api.services, log, inDays(29))).toBe(0);
  });

  shared('leaves a chain that goes on where nothing is left', async () => {
    const api = await createLog(3, { AUDIT_DAYS: '30' });
    expect(await pruneEvents(api.services, log, inDays(31))).toBe(3);
    await chain(api);

    expect(await verify(api)).toMatchObject({ faults: [], events: 1, end: { sequence: 4 } });
  });

  // Guarantees that retention cannot be used to remove the traces of an attack.
  shared.for([
    ['an event was changed', [`update audit_event set actor_id = 'acc_other' where id = ${third}`]],
    ['a checkpoint was backdated', [`update audit_checkpoint set created_at = now() - interval '90 days'`]],
  ] as const)('deletes nothing where %s', async ([, statements]) => {
    const api = await createLog(4, { AUDIT_DAYS: '30' });
    await tamper(api, ...statements);

    expect(await pruneEvents(api.services, log, inDays(statements[0].includes('90 days') ? 0 : 31))).toBe(0);
    expect((await verify(api)).fault).not.toBeNull();
  });
});
