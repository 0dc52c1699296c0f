import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { chainEvents } from '../../src/events/chain/append.ts';
import { readCheckpoints } from '../../src/events/chain/checkpoints.ts';
import { describeFault } from '../../src/events/chain/faults.ts';
import { pruneEvents } from '../../src/events/chain/retention.ts';
import { verifyAudit, type KnownPosition } from '../../src/events/chain/verify.ts';
import { firstIdAt } from '../../src/entities/index.ts';
import { startApi, test as shared, type Api } from '../support/api.ts';
import {
  anotherProcess,
  chain,
  createLog,
  keepLog,
  log,
  more,
  pruneAsBefore,
  savedCheckpoint,
  savedHead,
  signAsBefore,
  startLog,
  tamper,
  UNCHAIN,
  verify,
} from './chain-log.ts';

const DAY_MS = 86_400_000;

/** What somebody could copy from the database before, to put it back. */
type Copies = { readonly head: string; readonly checkpoint: string };

type Scene = { readonly api: Api; readonly before: Copies; readonly copies: Copies };

const copiesOf = async (api: Api): Promise<Copies> => ({
  head: await savedHead(api),
  checkpoint: await savedCheckpoint(api),
});

/**
 * A log of which retention has deleted positions 1 to 3, with checkpoints at 3 (the root), 5, 6 and 8, and one more
 * event at 9, which no checkpoint covers yet.
 */
async function aScene(create = createLog): Promise<Scene> {
  const api = await create(3, { AUDIT_DAYS: '30' });
  await more(api, 2);
  const at = new Date(Date.now() + 30 * DAY_MS); // after the first checkpoint, and before the second
  await chain(api);
  const before = await copiesOf(api);
  expect(await pruneEvents(api.services, log, at)).toBe(3);
  await chain(api);
  await more(api, 2);
  await chain(api);
  const copies = await copiesOf(api);
  expect(await verify(api)).toMatchObject({
    faults: [],
    root: { sequence: 3 },
    end: { sequence: 8 },
    isRootSigned: true,
  });
  return { api, before, copies };
}

/** A log of 6 events of a version that did not sign the beginning, with checkpoints at 3 and 6, after the upgrade. */
async function anUpgradedLog() {
  const api = await createLog(3);
  await more(api, 3);
  await chain(api);
  await signAsBefore(api);
  const old = await readCheckpoints(api.services.db.orm.em.fork(), 'true order by sequence');
  for (let i = 0; i < 2; i += 1) await chainEvents(anotherProcess(api), log);
  await more(api, 2);
  await chainEvents(anotherProcess(api), log);
  expect(await verify(api)).toMatchObject({ faults: [], root: { sequence: 0 }, isRootSigned: true });
  return { api, old };
}

/** What the log says of the end of the chain. */
async function knownOf(api: Api): Promise<KnownPosition> {
  const { end, root } = await verify(api);
  return { ...end, root: root.sequence };
}

const deleteUpTo = (sequence: number) => [
  `delete from audit_event where id in (select event_id from audit_link where sequence <= ${sequence})`,
  `delete from audit_link where sequence <= ${sequence}`,
  `delete from audit_checkpoint where sequence < ${sequence}`,
];
const deleteFrom = (sequence: number) => [
  `delete from audit_event where id in (select event_id from audit_link where sequence >= ${sequence})`,
  `delete from audit_link where sequence >= ${sequence}`,
  `delete from audit_checkpoint where sequence >= ${sequence}`,
];
const declareRoot = `update audit_checkpoint set is_root = true where sequence = 6`;
/** The columns of the beginning, as if it were at 6. */
const rootAt6 = `root_sequence = 6, root_hash = (select hash from audit_checkpoint where sequence = 6), root_at = now()`;
const unsigned = 'root_sequence = null, root_hash = null, root_at = null';
const newest = 'where sequence = (select max(sequence) from audit_checkpoint)';

/** Each with the fault that it is reported as. */
const ATTACKS: readonly (readonly [name: string, fault: string, statements: (scene: Scene) => readonly string[]])[] = [
  [
    'the beginning deleted up to a genuine checkpoint that is declared the root',
    'link_missing',
    () => [declareRoot, ...deleteUpTo(6)],
  ],
  [
    'the same, with the beginning of the end moved too',
    'checkpoint_not_signed',
    () => [declareRoot, `update audit_head set ${rootAt6}`, ...deleteUpTo(6)],
  ],
  [
    'the same, with the beginning of the newest checkpoint moved too',
    'checkpoint_not_signed',
    () => [
      declareRoot,
      `update audit_head set ${rootAt6}`,
      `update audit_checkpoint set ${rootAt6} ${newest}`,
      ...deleteUpTo(6),
    ],
  ],
  [
    'the same, in the format of versions that did not sign the beginning',
    'checkpoint_not_signed',
    () => [
      declareRoot,
      `update audit_head set ${unsigned}`,
      `update audit_checkpoint set ${unsigned}`,
      ...deleteUpTo(6),
    ],
  ],
  ['the end in that format', 'root_not_signed', () => [`update audit_head set ${unsigned}`]],
  [
    'the newest checkpoint in that format',
    'root_not_signed',
    () => [`update audit_checkpoint set ${unsigned} ${newest}`],
  ],
  [
    'the time before which events need no position moved ahead',
    'checkpoint_not_signed',
    () => [
      `update audit_head set pruned_before = '${firstIdAt('evt', new Date(Date.now() + DAY_MS))}'`,
      `update audit_checkpoint set pruned_before = '${firstIdAt('evt', new Date(Date.now() + DAY_MS))}'`,
    ],
  ],
  ['the time of the root moved', 'root_differs', () => [`update audit_head set root_at = now()`]],
  ['the end of before retention put back', 'root_differs', ({ before }) => [before.head]],
  [
    'end, newest checkpoint and beginning of before retention put back',
    'link_missing',
    ({ before }) => [...deleteFrom(6), before.head, before.checkpoint],
  ],
  [
    'the newest checkpoint of before retention put back',
    'root_differs',
    ({ before }) => [`delete from audit_checkpoint where sequence > 5`, before.checkpoint],
  ],
  [
    'the signature of the end given to the newest checkpoint',
    'checkpoint_not_signed',
    () => [`update audit_checkpoint set signature = (select signature from audit_head) ${newest}`],
  ],
  [
    'the signed end deleted, with the events since a checkpoint',
    'root_not_signed',
    () => ['delete from audit_head', ...deleteFrom(7)],
  ],
  [
    'the signed end emptied, with the events since a checkpoint',
    'root_not_signed',
    () => ['update audit_head set sequence = null, hash = null, signature = null', ...deleteFrom(7)],
  ],
  [
    'everything after the root deleted, with all that is signed later',
    'root_not_signed',
    () => ['delete from audit_head', ...deleteFrom(4)],
  ],
  ['all checkpoints deleted', 'checkpoint_missing', () => ['delete from audit_checkpoint']],
  [
    'links put before the beginning',
    'link_missing',
    () => [`insert into audit_link (sequence, event_id, hash) values (3, 'evt_0', sha256('x'))`],
  ],
];

describe('somebody who has all rights on the database, but no key, is found out', () => {
  let scene: Scene;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    scene = await aScene(startLog);
    putBack = await keepLog(scene.api);
  });
  afterAll(() => scene.api.close());

  shared.for(ATTACKS)('%s: %s', async ([, kind, statements]) => {
    await putBack();
    expect((await verify(scene.api)).faults).toEqual([]);
    await tamper(scene.api, ...statements(scene));

    expect((await verify(scene.api)).faults).toContainEqual(expect.objectContaining({ kind }));
    expect(await chainEvents(anotherProcess(scene.api), log).then(() => verify(scene.api))).not.toMatchObject({
      faults: [],
    });
  });
});

const SWALLOW = `create function evil.swallow() returns trigger language plpgsql
  as $$ begin return case when new.event = 'user.updated' then null else new end; end $$`;
/** For whoever connects from now on. */
const setPath = (path: string) =>
  `do $$ begin execute format('alter database %I set search_path = ${path}', current_database()); end $$`;

/** What somebody puts before the names that the service uses, with what names it. What misleads the next ones is last. */
const SHADOWS: readonly (readonly [named: RegExp, ...statements: string[]])[] = [
  // These can delete the event of a change in its transaction.
  [
    /^trigger zz of team is not of Roster/,
    'create trigger zz after update on team for each row execute function evil.swallow()',
  ],
  [/^rule zz of team is not of Roster/, 'create rule zz as on delete to team do also select 1'],
  [
    /^trigger zz of graphile_worker\._private_jobs is not of Roster/,
    'create trigger zz after insert on graphile_worker._private_jobs for each row execute function evil.swallow()',
  ],
  [
    /^function evil\.check_it\(text\) in a constraint, default or index of team is not of Roster/,
    `create function evil.check_it(text) returns boolean language sql as 'select true'`,
    'alter table team add check (evil.check_it(name))',
  ],
  [/^policy zz of team is not of Roster/, 'create policy zz on team using (true)'],
  // The trigger is on the table of others, and runs when an account is deleted.
  [
    /^foreign key victims_account_fkey of evil\.victims is not of Roster/,
    'create table evil.victims (account text references account (id) on delete cascade)',
    'create trigger zz before delete on evil.victims for each row execute function evil.swallow()',
  ],
  [
    /^cast from text to json is not of Roster/,
    `create function evil.to_json(text) returns json language sql as 'select null::json'`,
    'create cast (text as json) with function evil.to_json(text) as assignment',
  ],
  // A partition of a partition swallows unseen.
  [
    /^trigger audit_event_append_only of deep is missing/,
    'create table deep (like audit_event_other)',
    'alter table audit_event detach partition audit_event_other',
    'alter table audit_event_other rename to kept',
    'create table audit_event_other (like audit_event) partition by range (id)',
    'alter table audit_event_other attach partition deep default',
    'alter table audit_event attach partition audit_event_other default',
  ],
  [
    /^the default search_path=evil, pg_catalog, public is found before/,
    'create role evil_writer',
    'grant insert on audit_event to evil_writer',
    'alter role evil_writer set search_path = evil, pg_catalog, public',
  ],
  [
    /^v evil\.audit_pending is found before/,
    'create view evil.audit_pending as select * from public.audit_pending where false',
    setPath('evil, public'),
  ],
  // A catalog without the trigger that swallows.
  [
    /^trigger zz of audit_event is not of Roster/,
    'create trigger zz before insert on audit_event for each row execute function evil.swallow()',
    `create view evil.pg_trigger as select * from pg_catalog.pg_trigger where tgname <> 'zz'`,
    setPath('evil, public, pg_catalog'),
  ],
  [/^the schema evil in search_path is found before/],
  // A better match wins over the order of the path.
  [
    /^function public\.count\(text\) is found before/,
    `create function public.count(text) returns bigint language sql as 'select 0::bigint'`,
  ],
  [
    /^operator public\.=\(oid,regclass\) is found before/,
    `create function public.lie(oid, regclass) returns boolean language sql as 'select false'`,
    'create operator public.= (leftarg = oid, rightarg = regclass, function = public.lie)',
  ],
];

describe('whoever verifies on a new connection', () => {
  shared('is not misled by what is found before the names of PostgreSQL and of the service', async () => {
    const api = await createLog(3);
    onTestFinished(() => tamper(api, 'drop owned by evil_writer', 'drop role evil_writer'));
    const verifyAnew = async () => {
      const db = await openDatabase(api.databaseUrl, 1);
      return verifyAudit({ ...api.services, db }).finally(() => db.close());
    };
    expect((await verifyAnew()).faults).toEqual([]);
    await tamper(api, 'create schema evil', SWALLOW);

    for (const [named, ...statements] of SHADOWS) {
      await tamper(api, ...statements);
      const { faults } = await verifyAnew();
      expect(faults.map(describeFault)).toContainEqual(expect.stringMatching(named));
    }
  });
});

describe('somebody who deletes the whole log, with everything that is signed', () => {
  const WIPE = [
    'delete from audit_link',
    'delete from audit_event',
    'delete from audit_checkpoint',
    'delete from audit_pending',
    'update audit_head set sequence = null, hash = null, signature = null, root_sequence = null, root_hash = null, root_at = null, pruned_before = null',
    // An installation that is older than a day.
    `update mikro_orm_migrations set executed_at = now() - interval '9 days' where name like '%_audit_log'`,
    `update account set created_at = now() - interval '3 days'`,
  ];

  shared('is found out by the accounts before a process numbers again, and after', async () => {
    const { api } = await aScene();
    await tamper(api, ...WIPE);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'chain_restarted' }]);
    await more(api, 1);
    // The process that signed the end does not begin anew.
    expect(await chain(api)).toBe(0);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'chain_restarted' }]);
    await chainEvents(anotherProcess(api), log);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'chain_restarted' }]);
  });

  shared('a service that has numbered nothing yet is no such log', async () => {
    const api = await startApi();
    onTestFinished(() => api.close());
    await api.anAccount();
    expect((await verify(api)).faults).toEqual([]);
    await more(api, 1);
    expect((await verify(api)).faults).toEqual([]);
  });
});

describe('what the database alone does not show', () => {
  shared(
    'an older state that was put back as a whole is found out by a known position, and by the process',
    async () => {
      const { api, copies } = await aScene();
      await more(api, 1);
      await chain(api);
      const known = await knownOf(api);
      await tamper(api, ...deleteFrom(9), copies.head, copies.checkpoint);

      expect((await verify(api)).faults).toEqual([]);
      expect((await verifyAudit(api.services, known)).faults).toMatchObject([{ kind: 'end_missing', sequence: 9 }]);
      await more(api, 1);
      expect(await chain(api)).toBe(0);
    },
  );

  shared(
    'a log that was begun anew, with all times of accounts changed, is found out by a known position',
    async () => {
      const { api } = await aScene();
      const known = await knownOf(api);
      await tamper(api, ...UNCHAIN, `update account set created_at = now()`);
      await chainEvents(anotherProcess(api), log);

      expect((await verify(api)).faults).toEqual([]);
      expect((await verifyAudit(api.services, known)).faults).not.toEqual([]);
    },
  );
});

describe('a chain of a version that did not sign its beginning', () => {
  shared('is accepted, and signed once, as an event', async () => {
    const { api } = await aScene();
    await signAsBefore(api);
    expect(await verify(api)).toMatchObject({ faults: [], root: { sequence: 3 }, isRootSigned: false });

    await chainEvents(anotherProcess(api), log);
    await chainEvents(anotherProcess(api), log);

    expect(await verify(api)).toMatchObject({ faults: [], root: { sequence: 3 }, isRootSigned: true, events: 6 });
    expect(await api.rows(`select details from audit_event where event = 'audit_log.root_signed'`)).toEqual([
      { details: { number: 3 } },
    ]);
  });

  shared('cannot be put together from its own checkpoints, with another beginning', async () => {
    const { api } = await anUpgradedLog();
    // Back to the newest checkpoint of that version, with an older one as the beginning.
    await tamper(
      api,
      `delete from audit_event where event = 'audit_log.root_signed'`,
      `delete from audit_event where id in (select event_id from audit_link where sequence <= 3)`,
      `insert into audit_pending select event_id from audit_link where sequence > 6 and event_id in (select id from audit_event)`,
      'delete from audit_link where sequence > 6 or sequence <= 3',
      'delete from audit_checkpoint where sequence > 6 or sequence < 3',
      'update audit_checkpoint set is_root = true where sequence = 3',
      `update audit_head set sequence = null, hash = null, signature = null, pruned_before = null, ${unsigned}`,
      `update audit_checkpoint set ${unsigned}, pruned_before = null`,
    );

    expect((await verify(api)).faults).not.toEqual([]);
    for (let i = 0; i < 2; i += 1) expect(await chainEvents(anotherProcess(api), log)).toBe(0);
    expect((await verify(api)).faults).not.toEqual([]);
  });

  shared('is not accepted with a beginning that retention did not sign, not even before it is signed', async () => {
    const api = await createLog(3);
    await more(api, 3);
    await chain(api);
    await signAsBefore(api);
    await tamper(api, ...deleteUpTo(3), 'update audit_checkpoint set is_root = true where sequence = 3');

    expect((await verify(api)).faults).toContainEqual(expect.objectContaining({ kind: 'link_missing', sequence: 1 }));
    await more(api, 1);
    expect(await chainEvents(anotherProcess(api), log)).toBe(0);
  });

  shared('keeps no signature of that version, also if another process signed only its newest checkpoint', async () => {
    const { api, old } = await anUpgradedLog();
    const left = () => api.rows('select sequence from audit_checkpoint where root_sequence is null order by sequence');
    expect([old.length, await left()]).toEqual([2, []]);
    const [first] = old;
    const forged = `sha256('x')`;
    await tamper(
      api,
      `update audit_checkpoint set ${unsigned}, pruned_before = null, signature = decode('${first?.signature}', 'hex')
       where sequence = ${first?.sequence}`,
      `insert into audit_checkpoint (id, created_at, sequence, hash, is_root, signature)
       values ('chk_0', now(), 2, ${forged}, true, ${forged})`,
    );
    expect(await left()).toEqual([{ sequence: '2' }, { sequence: '3' }]);

    await chainEvents(anotherProcess(api), log);

    // What no key has signed proves nothing, and is not signed.
    expect(await left()).toEqual([{ sequence: '2' }]);
    expect((await verify(api)).faults).toMatchObject([{ kind: 'checkpoint_differs', sequence: 2 }]);
  });

  shared.for([true, false])('loses nothing to the retention of such a version, signed: %s', async (isSigned) => {
    const { api } = await aScene();
    if (!isSigned) await signAsBefore(api);

    await expect(pruneAsBefore(api, 6)).rejects.toThrow('append-only');
    expect(await verify(api)).toMatchObject({ faults: [], root: { sequence: 3 }, end: { sequence: 8 }, events: 5 });
    await more(api, 1);
    await chainEvents(anotherProcess(api), log);
    expect(await pruneEvents(api.services, log, new Date(Date.now() + 60 * DAY_MS))).toBeGreaterThan(0);
    expect(await verify(api)).toMatchObject({ faults: [], isRootSigned: true });
  });

  shared('is not accepted by a process that has seen a signed one, nor by a known position that has one', async () => {
    const { api } = await aScene();
    const known = await knownOf(api);
    await signAsBefore(api);
    await more(api, 1);

    expect(await chain(api)).toBe(0);
    expect((await verifyAudit(api.services, known)).faults).toMatchObject([{ kind: 'root_not_signed', sequence: 3 }]);
  });

  shared.for([
    ['is still in the chain', []],
    ['was cut off, and is still in the log', ['delete from audit_link where sequence > 8']],
  ] as const)('is not accepted where the event that it is signed %s', async ([, cut]) => {
    const { api } = await aScene();
    await signAsBefore(api);
    const copies = await copiesOf(api);
    await chainEvents(anotherProcess(api), log);
    if (cut.length === 0) await signAsBefore(api);
    else await tamper(api, ...cut, 'delete from audit_checkpoint where sequence > 8', copies.head, copies.checkpoint);

    expect((await verify(api)).faults).toContainEqual(expect.objectContaining({ kind: 'root_not_signed' }));
  });

  shared('is not signed where its first link does not follow from what it calls its beginning', async () => {
    const { api } = await aScene();
    await signAsBefore(api);
    await tamper(api, `update audit_checkpoint set is_root = false`);
    await more(api, 1);

    expect(await chainEvents(anotherProcess(api), log)).toBe(0);
    expect((await verify(api)).faults).toContainEqual(expect.objectContaining({ kind: 'link_missing' }));
  });
});
