import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyPassword } from '../../src/crypto/password-hash.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { createApiKeyFor } from '../../src/resources/api-keys/creation.service.ts';
import { addMember } from '../../src/resources/members/members.service.ts';
import { rosterOfItsOwn, run } from './roster.ts';

const roster = await rosterOfItsOwn();
const ROOT = join(import.meta.dirname, '../..');

const aKey = async (account: { id: string }, teamId?: string) => {
  const input = { name: 'Key', scopes: ['teams:read' as const], expiresAt: null, ...(teamId && { teamId }) };
  return (await createApiKeyFor({ db: roster.db, tokens: createTokens('rst') }, 'system', account.id, input)).key.id;
};

const eventsOf = async (column: 'team_id' | 'account_id', id: string) =>
  (
    await roster.rows<{ event: string; actor_kind: string }>(
      `select event, actor_kind from audit_event where ${column} = $1 and actor_kind = 'operator_cli' order by id`,
      [id],
    )
  ).map(({ event }) => event);

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

  expect(await run({}, ['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

/** Creates an account whose password is on standard input. @returns what it prints to stderr */
function createWithPassword(email: string, input: string | Buffer): Promise<string> {
  const args = ['bin/run.cjs', 'src/cli/main.ts', 'account', 'create', '--email', email, '--password-stdin'];
  const { promise, resolve } = Promise.withResolvers<string>();
  const env = { PATH: process.env['PATH'], ...roster.env };
  execFile(process.execPath, args, { cwd: ROOT, env }, (_, _out, stderr) => resolve(stderr)).stdin?.end(input);
  return promise;
}

test('--password-stdin keeps the password out of the list of processes, and takes one line end off', async () => {
  // Editors on Windows begin a file with a byte order mark.
  expect(await createWithPassword('in@example.com', '\uFEFFcorrect horse \r\n')).toBe('');
  const [row] = await roster.rows<{ password_hash: string }>(
    `select password_hash from account where email = 'in@example.com'`,
  );
  expect(await verifyPassword('correct horse ', row?.password_hash ?? null)).toBe(true);
});

test.for([
  ['UTF-16', Buffer.from('\uFEFFcorrect horse\r\n', 'utf16le'), 'not UTF-8 text: save the file as UTF-8'],
  ['UTF-16 without a mark', Buffer.from('correct horse\n', 'utf16le'), 'not UTF-8 text: save the file as UTF-8'],
  ['two lines', 'correct horse\nbattery staple\n', 'more than one line: leave only the password'],
] as const)('--password-stdin refuses %s', async ([, input, reason]) => {
  expect(await createWithPassword('refused@example.com', input)).toBe(`roster: --password-stdin: ${reason}\n`);
  expect(await roster.rows(`select from account where email = 'refused@example.com'`)).toEqual([]);
});

test('a reader that ends early, such as head, ends a list without a message', async () => {
  await roster.rows(
    `insert into account (id, email, role, created_at, updated_at)
     select 'acc_head' || lpad(n::text, 18, '0'), 'head' || n || '@example.com', 'user', now(), now()
     from generate_series(1, 2000) n`,
  );
  const { promise, resolve } = Promise.withResolvers<{ stdout: string; stderr: string }>();
  const command = `"${process.execPath}" bin/run.cjs src/cli/main.ts account list | head -n 1`;
  const env = { PATH: process.env['PATH'], ...roster.env };
  execFile('sh', ['-c', command], { cwd: ROOT, env }, (_, stdout, stderr) => resolve({ stdout, stderr }));

  expect(await promise).toEqual({ stdout: expect.stringMatching(/^acc_[^\n]+\n$/), stderr: '' });
  await roster.rows(`delete from account where id like 'acc_head%'`);
});

test('lists are printed in pages, each row once, oldest first', async () => {
  await roster.rows(
    `insert into account (id, email, role, created_at, updated_at)
     select 'acc_many' || lpad(n::text, 18, '0'), 'many' || n || '@example.com', 'user', now(), now()
     from generate_series(1, 1234) n`,
  );

  const accounts = await roster.json<{ id: string; email: string }[]>('account', 'list');
  const { stdout } = await roster.run('account', 'list');

  const many = accounts.filter(({ id }) => id.startsWith('acc_many')).map(({ email }) => email);
  expect(many).toEqual(Array.from({ length: 1234 }, (_, n) => `many${n + 1}@example.com`));
  expect(stdout.trimEnd().split('\n')).toHaveLength(accounts.length);
});

describe('team', () => {
  test('list shows each team with its owner, and one that has lost its owner', async () => {
    const owner = await roster.account();
    const [owned, orphaned] = [await roster.team(owner), await roster.team(owner)];
    await roster.rows('delete from membership where team_id = $1', [orphaned.id]);

    const teams = await roster.json<{ id: string }[]>('team', 'list');

    expect(teams.filter(({ id }) => [owned.id, orphaned.id].includes(id))).toEqual([
      expect.objectContaining({ id: owned.id, ownerEmail: owner.email, members: 1, planId: 'free' }),
      expect.objectContaining({ id: orphaned.id, ownerEmail: null, members: 0 }),
    ]);
  });

  test('transfer repairs a team without an owner', async () => {
    const team = await roster.team(await roster.account());
    await roster.rows('delete from membership where team_id = $1', [team.id]);
    const heir = await roster.account();

    await roster.json('team', 'transfer', '--team', team.id, '--email', heir.email);

    expect(await rolesIn(team.id)).toEqual([{ account_id: heir.id, role_id: 'owner', is_active: true }]);
    expect(await eventsOf('team_id', team.id)).toEqual(['member.added', 'ownership.transferred']);
  });

  test('transfer makes the former owner a member, and an inactive member the active owner', async () => {
    const [owner, heir] = [await roster.account(), await roster.account()];
    const team = await roster.team(owner);
    await addMember(roster.db, 'system', team.id, heir.id, { isActive: false, expiresAt: new Date(Date.now() + 1000) });

    await roster.json('team', 'transfer', '--team', team.id, '--email', heir.email);

    expect(await rolesIn(team.id)).toEqual([
      { account_id: owner.id, role_id: 'member', is_active: true },
      { account_id: heir.id, role_id: 'owner', is_active: true },
    ]);
    expect(await roster.refusal('team', 'transfer', '--team', team.id, '--email', heir.email)).toBe(
      '--email: The account already owns this team.',
    );
  });

  test('delete removes the team with its keys, and a second time names the option', async () => {
    const owner = await roster.account();
    const team = await roster.team(owner);
    await aKey(owner, team.id);

    await roster.json('team', 'delete', '--team', team.id);

    expect(await roster.rows('select id from api_key where team_id = $1', [team.id])).toEqual([]);
    expect(await eventsOf('team_id', team.id)).toContain('team.deleted');
    expect(await roster.refusal('team', 'delete', '--team', team.id)).toMatch(/^--team: /);
  });
});

describe('key', () => {
  test('list filters by account and team; a revoked key is listed no longer, and cannot be revoked again', async () => {
    const owner = await roster.account();
    const team = await roster.team(owner);
    const [personal, forTeam] = [await aKey(owner), await aKey(owner, team.id)];
    const ids = async (...filter: string[]) =>
      (await roster.json<{ id: string }[]>('key', 'list', ...filter)).map(({ id }) => id);

    expect(await ids('--email', owner.email)).toEqual([personal, forTeam]);
    expect(await ids('--team', team.id)).toEqual([forTeam]);
    await roster.json('key', 'revoke', '--key', personal);
    expect(await ids('--email', owner.email)).toEqual([forTeam]);
    expect(await roster.refusal('key', 'revoke', '--key', personal)).toMatch(/^--key: /);
    expect(await eventsOf('account_id', owner.id)).toContain('api_key.revoked');
  });
});

describe('account delete', () => {
  test('deletes the account with the teams of its own', async () => {
    const owner = await roster.account();
    const team = await roster.team(owner);

    await roster.json('account', 'delete', '--email', owner.email);

    expect(await roster.rows('select id from team where id = $1', [team.id])).toEqual([]);
    expect(await roster.refusal('account', 'delete', '--email', owner.email)).toMatch(/^--email: no account/);
    expect(await eventsOf('account_id', owner.id)).toContain('account.deleted');
  });

  test('is denied while the account owns a team with other members', async () => {
    const owner = await roster.account();
    const team = await roster.team(owner);
    await addMember(roster.db, 'system', team.id, (await roster.account()).id, {});

    expect(await roster.refusal('account', 'delete', '--email', owner.email)).toMatch(/^--email: /);
    expect(await roster.rows('select id from account where id = $1', [owner.id])).toHaveLength(1);
  });
});

const rolesIn = (teamId: string) =>
  roster.rows('select account_id, role_id, is_active from membership where team_id = $1 order by joined_at', [teamId]);

describe('ext: and the external id', () => {
  test('is accepted by every option for a team or an account', async () => {
    const { json } = roster;
    const person = (name: string) =>
      json('account', 'create', '--email', `ext-${name}@example.com`, '--external-id', `crm/${name} %_`, '--verified');
    await person('ann');
    await person('bob');
    const [ann, bob, team] = ['ext:crm/ann %_', 'ext:crm/bob %_', 'ext:tenant-é'];
    const { id } = await json<{ id: string }>(
      'team',
      'create',
      '--owner',
      ann,
      '--name',
      'Acme',
      '--external-id',
      'tenant-é',
    );

    await json('member', 'add', '--team', team, '--email', bob);
    await json('member', 'set', '--team', team, '--email', bob, '--role', 'guest');
    await json('role', 'create', '--team', team, '--name', 'Editor', '--permissions', '');
    await json('billing', 'set', '--team', team, '--plan', 'pro');
    await json('key', 'create', '--email', bob, '--team', team, '--scopes', 'teams:read');
    expect(await json('key', 'list', '--email', bob, '--team', team)).toMatchObject([{ teamId: id }]);
    await json('team', 'transfer', '--team', team, '--email', bob);
    await json('account', 'disable', '--email', ann);
    await json('account', 'enable', '--email', ann);
    const { stdout } = await run(roster.env, ['audit', 'export', '--format', 'ndjson', '--team', team]);
    const events = stdout
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as { event: string }).event);
    expect(events).toEqual(expect.arrayContaining(['team.created', 'member.added', 'ownership.transferred']));
    await json('team', 'delete', '--team', team);
    await json('account', 'delete', '--email', bob);
    expect(await roster.rows(`select 1 from account where external_id = 'crm/bob %_'`)).toEqual([]);
    expect(await roster.rows('select 1 from team where id = $1', [id])).toEqual([]);
  });

  test('that is unknown is named with its option', async () => {
    expect(await run(roster.env, ['team', 'delete', '--team', 'ext:unknown'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--team: '),
    });
    expect(await run(roster.env, ['account', 'disable', '--email', 'ext:unknown'])).toMatchObject({
      code: 1,
      stderr: 'roster: --email: no account has the external id unknown\n',
    });
  });
});
