import pg from 'pg';
import { readConfig } from '../../src/config/config.ts';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { chainEvents } from '../../src/events/chain/append.ts';
import { firstIdAt } from '../../src/entities/index.ts';
import { expect, test } from 'vitest';
import { rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();
roster.allowStrayEvents();

const chain = () =>
  chainEvents(
    { config: readConfig({}), db: roster.db, encryption: createEncryption([roster.env.SECRET_KEYS]) },
    { info: () => undefined, warn: () => undefined, error: () => undefined },
  );

type Event = { id: string; event: string; actor_kind: string; team_id: string | null; target_id: string | null };

test('what a command changes is recorded as the operator’s, exported, and verified', async () => {
  const owner = await roster.account();
  const team = await roster.team(owner);
  const role = ['--team', team.id, '--name', 'Editors', '--permissions', 'invite_members'];
  const { roleId } = await roster.json<{ roleId: string }>('role', 'create', ...role);
  await roster.json('account', 'disable', '--email', owner.email);

  const { stdout } = await roster.run('audit', 'export', '--format', 'ndjson', '--team', team.id);
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line): Event => JSON.parse(line));
  expect(events).toMatchObject([
    { event: 'team.created', actor_kind: 'system', team_id: team.id },
    { event: 'member.added', actor_kind: 'system', team_id: team.id },
    { event: 'role.created', actor_kind: 'operator_cli', team_id: team.id, target_id: roleId },
  ]);

  expect(await roster.json('audit', 'verify')).toMatchObject({ ok: true, events: 0, pending: 5 });
  await chain();
  expect(await roster.json('audit', 'verify')).toMatchObject({ ok: true, events: 5, pending: 0 });
});

// Guarantees that a spreadsheet computes nothing that a caller wrote: the request id is theirs.
test('a CSV has a line an event, and no formula', async () => {
  const [earlier, later] = [firstIdAt('evt', new Date('2030-01-01')), firstIdAt('evt', new Date('2031-01-01'))];
  await roster.rows(
    `insert into audit_event (id, occurred_at, event, actor_kind, request_id, team_id, details)
     values ($1, '2030-01-01T00:00:00Z', 'team.created', 'system', '-2+3', 'team_csv', '{"reason":"a,\\"b\\""}'),
            ($2, '2031-01-01T00:00:00Z', 'team.deleted', 'system', 'an-id', 'team_csv', '{"clientRequestId":"=1+1"}')`,
    [earlier, later],
  );

  const { stdout } = await roster.run('audit', 'export', '--format', 'csv', '--team', 'team_csv');
  expect(stdout.split('\r\n')).toEqual([
    'id,occurred_at,event,actor_kind,actor_id,credential_id,client_id,team_id,account_id,target_id,address,request_id,count,details,client_request_id',
    `${earlier},2030-01-01T00:00:00.000Z,team.created,system,,,,team_csv,,,,'-2+3,1,"{""reason"":""a,\\""b\\""""}",`,
    `${later},2031-01-01T00:00:00.000Z,team.deleted,system,,,,team_csv,,,,an-id,1,{},'=1+1`,
    '',
  ]);

  const range = ['--from', '2030-06-01T00:00:00Z', '--to', '2031-06-01T00:00:00Z'];
  const { stdout: rest } = await roster.run('audit', 'export', '--format', 'ndjson', ...range);
  expect(rest.match(/evt_\w+/g)).toEqual([later]);
});

// Guarantees that a log that can be changed unnoticed is noticed, before anything is changed.
test.each([
  ['disabled', 'alter table audit_event disable trigger audit_event_append_only', 'trigger_disabled'],
  ['dropped', 'drop trigger audit_event_append_only on audit_event', 'trigger_missing'],
  ['given a condition', replacedBy('before update or delete or truncate', 'for each statement when (false)')],
  ['moved after the change', replacedBy('after update or delete or truncate')],
])('a trigger of the audit log that was %s is named by verify and doctor', async (_, sql, kind = 'trigger_changed') => {
  const [trigger] = await roster.rows<{ definition: string }>(
    `select pg_get_triggerdef(oid) as definition from pg_trigger where tgname = 'audit_event_append_only'
       and tgrelid = 'audit_event'::regclass`,
  );
  await roster.rows(sql);
  const [verify, doctor] = await Promise.all([roster.run('audit', 'verify'), roster.run('doctor')]);
  await roster.rows('drop trigger if exists audit_event_append_only on audit_event');
  await roster.rows(trigger?.definition ?? '');

  const named = new RegExp(`trigger audit_event_append_only .*\\(${kind}\\)`);
  expect([verify.code, doctor.code]).toEqual([1, 1]);
  expect(verify.stderr).toMatch(named);
  expect(doctor.stdout).toMatch(named);
  expect((await roster.run('audit', 'verify')).stderr).not.toMatch(named);
});

test('a rule that swallows events is named by verify and doctor', async () => {
  await roster.rows('create rule swallow as on insert to audit_event do instead nothing');
  const [verify, doctor] = await Promise.all([roster.run('audit', 'verify'), roster.run('doctor')]);
  await roster.rows('drop rule swallow on audit_event');

  const named = /rule swallow of audit_event is not of Roster.*\(table_changed\)/;
  expect([verify.code, doctor.code]).toEqual([1, 1]);
  expect(verify.stderr).toMatch(named);
  expect(doctor.stdout).toMatch(named);
});

// Guarantees that triggers that no connection obeys are noticed, whoever asks.
test.each(['session_replication_role = replica', `roster.retention = 'signs root'`])(
  'the setting %s of the database is named by verify and doctor',
  async (setting) => {
    const database = new URL(roster.env.DATABASE_URL).pathname.slice(1);
    await roster.rows(`alter database ${database} set ${setting}`);
    const [verify, doctor] = await Promise.all([roster.run('audit', 'verify'), roster.run('doctor')]);
    await roster.rows(`alter database ${database} reset all`);

    const named = /trigger audit_event_append_only is passed by connections: .*\(trigger_bypassed\)/;
    expect([verify.code, doctor.code]).toEqual([1, 1]);
    expect(verify.stderr).toMatch(named);
    expect(doctor.stdout).toMatch(named);
    expect((await roster.run('audit', 'verify')).stderr).not.toMatch(named);
  },
);

function replacedBy(events: string, each = 'for each statement'): string {
  return `drop trigger audit_event_append_only on audit_event;
    create trigger audit_event_append_only ${events} on audit_event ${each} execute function audit_append_only()`;
}

test('a log that was tampered with is reported, with the position and exit 1', async () => {
  await chain();
  const client = new pg.Client(roster.env.DATABASE_URL);
  await client.connect();
  await client.query('set session_replication_role = replica');
  await client.query(`update audit_event set event = 'team.deleted' where event = 'role.created'`);
  await client.end();

  const { code, stdout, stderr } = await roster.run('audit', 'verify', '--json');

  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, fault: { kind: 'event_changed', sequence: 4 } });
  expect(stderr).toMatch(
    /^roster: the audit log is broken: event 4 evt_\w+ was changed \(event_changed\)(; event evt_\w+ has no valid MAC[^;\n]+){2}\n$/,
  );
});

// Guarantees that the operator learns of it without asking for it.
test('doctor names the fault with its event, and the key that must not be dropped yet', async () => {
  const { code, stdout } = await roster.run('doctor', '--json');
  expect(code).toBe(1);
  const checks: { name: string; ok: boolean; detail: string }[] = JSON.parse(stdout);
  expect(checks.find(({ name }) => name === 'audit')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^event 4 evt_\w+ was changed \(event_changed\); /),
  });
});
