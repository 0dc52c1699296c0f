import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';
import { applyCatalogue } from '../../src/resources/permissions/catalogue.service.ts';
import { catalogueFile } from '../../src/resources/permissions/permissions.schema.ts';
import { startApi } from '../support/api.ts';
import { foreignHashes } from '../support/foreign-hashes.ts';
import { account, aFile, aPrefix, membership, team, type Counts } from './import-file.ts';
import { rosterOfItsOwn, run } from './roster.ts';

const { env, db, json } = await rosterOfItsOwn();

const rowsOf = <Row>(text: string, values: readonly unknown[] = []) =>
  db.run<Row>({ kind: 'command', name: '', text }, values);

const start = (path: string, ...args: string[]) => run(env, ['import', '--from', path, ...args, '--json']);

const importAll = (path: string, ...args: string[]) => json<Counts>('import', '--from', path, ...args);

const waitingEmails = () =>
  rowsOf(`select id from graphile_worker.jobs where task_identifier like 'send%' order by id`);

const refused = (path: string) =>
  readFileSync(`${path}.refused.ndjson`, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { line: number; type: string | null; code: string; detail: string }); // one object a line

describe('roster import', () => {
  test('imports accounts, teams, memberships and keys, which work at once', async () => {
    const p = aPrefix();
    const api = await startApi({}, { databaseUrl: env.DATABASE_URL });
    onTestFinished(() => api.close());
    const key = createTokens('rst').generate('teamKey');
    const [, hash = ''] = foreignHashes('wandering heron 42').find(([name]) => name === 'bcrypt 2b') ?? [];
    const path = aFile([
      account(`${p}ann`, {
        emailVerified: true,
        firstName: 'Ann',
        passwordHash: hash,
        createdAt: '2020-01-02T03:04:05Z',
      }),
      account(`${p}bob`, {
        email: `${p}Bob@Example.com`,
        emailVerified: '2021-01-01T00:00:00+02:00',
        isDisabled: true,
      }),
      team(`${p}acme`, `${p}ann`, { plan: 'pro', description: 'Hats', createdAt: '2020-02-03T00:00:00Z' }),
      membership(`${p}acme`, `${p}bob`, { role: 'guest', isActive: false }),
      {
        type: 'apiKey',
        account: `${p}ann`,
        team: `${p}acme`,
        name: 'CI',
        scopes: ['members:read', 'teams:read'],
        secretHash: key.hash.toString('hex'),
        keyPrefix: key.keyPrefix,
        last4: key.last4,
      },
    ]);

    expect(await importAll(path)).toMatchObject({
      rows: 5,
      accounts: 2,
      teams: 1,
      memberships: 1,
      apiKeys: 1,
      existing: 0,
      refused: 0,
    });

    const visitor = api.visitor();
    await visitor.trpc.auth.signIn.mutate({ email: `${p}ann@example.com`, password: 'wandering heron 42' });
    const { body: teams } = await api.as(key.secret).get('/api/v1/teams');
    expect(teams).toMatchObject([{ name: 'Acme', description: 'Hats' }]);
    const { body: members } = await api.as(key.secret).get(`/api/v1/teams/${teams[0].id}/members`);
    expect(members).toMatchObject([
      { email: `${p}ann@example.com`, roleId: 'owner', isActive: true },
      { email: `${p}Bob@Example.com`, roleId: 'guest', isActive: false },
    ]);
    const [ann] = await rowsOf<{ created_at: string; created_by: string }>(
      `select created_at, created_by from account where external_id = $1`,
      [`${p}ann`],
    );
    expect([new Date(ann?.created_at ?? '').getUTCFullYear(), ann?.created_by]).toEqual([2020, 'operator']);
  });

  test('imports roles and keys with permissions of the product, and refuses what the catalogue does not give', async () => {
    const p = aPrefix();
    const of = (name: string, more: object = {}) => ({ name, title: { en: name }, ...more });
    const permissions = [
      of('invoices:read', { keys: true }),
      of('invoices:write'),
      of('old:one', { deprecated: true }),
    ];
    await applyCatalogue(db, 'system', catalogueFile.parse({ permissions }));
    const roles = [{ name: 'Clerk', permissions: [], productPermissions: ['invoices:write', 'invoices:read'] }];
    const clerkOf = (name: string) => [{ name: 'Clerk', permissions: [], productPermissions: [name] }];
    const key = (held: readonly string[]) => {
      const { hash, keyPrefix, last4 } = createTokens('rst').generate('teamKey');
      const secret = { secretHash: hash.toString('hex'), keyPrefix, last4 };
      const shared = { type: 'apiKey', account: `${p}b`, team: `${p}t`, name: 'K', scopes: [] };
      return { ...shared, permissions: held, ...secret };
    };
    const path = aFile([
      account(`${p}a`),
      account(`${p}b`),
      team(`${p}t`, `${p}a`, { roles }),
      membership(`${p}t`, `${p}b`, { role: 'Clerk' }),
      key(['invoices:read']),
      key(['invoices:write']),
      key(['unknown:one']),
      key([]),
      team(`${p}u`, `${p}a`, { roles: clerkOf('unknown:one') }),
      team(`${p}v`, `${p}a`, { roles: clerkOf('old:one') }),
      team(`${p}w`, `${p}a`, { roles: clerkOf('teams') }),
    ]);

    expect(await start(path, '--dry-run')).toMatchObject({ code: 1 });
    const planned = refused(path);
    expect(await start(path)).toMatchObject({ code: 1 });
    expect(refused(path).map(({ line, code }) => [line, code])).toEqual([
      [9, 'unknown_permission'],
      [10, 'unknown_permission'],
      [11, 'invalid'],
      [6, 'unknown_permission'],
      [7, 'unknown_permission'],
      [8, 'invalid'],
    ]);
    expect(planned).toEqual(refused(path));
    const held = await rowsOf(
      `select r.name, r.product_permissions as role, k.product_permissions as key
       from membership m join account a on a.id = m.account_id join role r on r.id = m.role_id
       join api_key k on k.account_id = a.id where a.external_id = $1`,
      [`${p}b`],
    );
    expect(held).toEqual([{ name: 'Clerk', role: ['invoices:read', 'invoices:write'], key: ['invoices:read'] }]);
    const recorded = await rowsOf(
      `select event, details->'productPermissions' as held from audit_event
       where event in ('role.created', 'api_key.created') and team_id = (select id from team where external_id = $1)
       order by event`,
      [`${p}t`],
    );
    expect(recorded).toEqual([
      { event: 'api_key.created', held: ['invoices:read'] },
      { event: 'role.created', held: ['invoices:read', 'invoices:write'] },
    ]);
  });

  test('imports memberships with the roles of their team, by name', async () => {
    const p = aPrefix();
    const roles = [
      { name: 'Admin', permissions: ['invite_members', 'access_dashboard'] },
      { name: 'Observer', permissions: [] },
    ];
    const rows = [
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => account(`${p}${name}`)),
      team(`${p}t`, `${p}a`, { roles }),
      team(`${p}u`, `${p}a`),
      membership(`${p}t`, `${p}b`, { role: 'admin' }),
      membership(`${p}t`, `${p}c`, { role: 'Observer' }),
      membership(`${p}t`, `${p}d`, { role: 'Guest' }),
      membership(`${p}u`, `${p}b`, { role: 'Admin' }),
      membership(`${p}t`, `${p}e`, { role: 'Owner' }),
      team(`${p}v`, `${p}a`, { roles: [...roles, { name: 'ADMIN', permissions: [] }] }),
      team(`${p}w`, `${p}a`, { roles: [{ name: 'Pilot', permissions: ['fly'] }] }),
    ];
    const path = aFile(rows);

    expect(await start(path, '--dry-run')).toMatchObject({ code: 1 });
    const planned = refused(path);
    expect(await start(path)).toMatchObject({ code: 1 });
    expect(refused(path).map(({ line, code }) => [line, code])).toEqual([
      [14, 'invalid'],
      [15, 'invalid'],
      [12, 'unknown_role'],
      [13, 'owner_exists'],
    ]);
    expect(planned).toEqual(refused(path));
    const members = await rowsOf(
      `select a.external_id as account, r.name, r.permissions from membership m join team t on t.id = m.team_id
       join account a on a.id = m.account_id join role r on r.id = m.role_id
       where t.external_id = $1 and m.role_id <> 'owner' order by 1`,
      [`${p}t`],
    );
    expect(members).toEqual([
      { account: `${p}b`, name: 'Admin', permissions: ['access_dashboard', 'invite_members'] },
      { account: `${p}c`, name: 'Observer', permissions: [] },
      { account: `${p}d`, name: 'Guest', permissions: [] },
    ]);
    const recorded = await rowsOf(
      `select e.event from audit_event e join team t on t.id = e.team_id
       where t.external_id = $1 and e.event = 'role.created'`,
      [`${p}t`],
    );
    expect(recorded).toHaveLength(2);
    expect(await importAll(aFile(rows.slice(0, 11)))).toMatchObject({ existing: 11, refused: 0 });
  });

  test('imports teams with the roles of the templates, which memberships can name', async () => {
    const p = aPrefix();
    const template = await json<{ id: string }>(
      'role-template',
      'create',
      '--name',
      'Lead',
      '--permissions',
      'invite_members',
    );
    expect(await json('role-template', 'set', '--template', template.id, '--name', 'Chief')).toMatchObject({
      version: 1,
    });
    expect(await json('role-template', 'list')).toMatchObject([{ name: 'Chief', permissions: ['invite_members'] }]);
    const path = aFile([
      ...['a', 'b', 'c'].map((name) => account(`${p}${name}`)),
      team(`${p}t`, `${p}a`, { roles: [{ name: 'Guide', permissions: [] }] }),
      team(`${p}u`, `${p}a`, { roles: [{ name: 'chief', permissions: [] }] }),
      membership(`${p}t`, `${p}b`, { role: 'Chief' }),
      membership(`${p}u`, `${p}c`, { role: 'Chief' }),
    ]);
    expect(await importAll(path, '--dry-run')).toMatchObject({ memberships: 2, refused: 0 });
    expect(await importAll(path)).toMatchObject({ memberships: 2, refused: 0 });
    await json('role-template', 'delete', '--template', template.id);
    expect(await json('role-template', 'list')).toEqual([]);

    const roles = await rowsOf(
      `select t.external_id as team, r.name, r.permissions, count(m.id)::int as members from role r
       join team t on t.id = r.team_id left join membership m on m.role_id = r.id
       where t.external_id in ($1, $2) group by 1, 2, 3 order by 1, 2`,
      [`${p}t`, `${p}u`],
    );
    expect(roles).toEqual([
      { team: `${p}t`, name: 'Chief', permissions: ['invite_members'], members: 1 },
      { team: `${p}t`, name: 'Guide', permissions: [], members: 0 },
      { team: `${p}u`, name: 'chief', permissions: [], members: 1 },
    ]);
  });

  test('imports metadata as it is, and refuses what could not be set, with the reason', async () => {
    const p = aPrefix();
    const parts = { public: { a: [1.5, null, { b: 'ä' }] }, private: { c: true } };
    const path = aFile([
      account(`${p}a`, { metadata: parts }),
      account(`${p}b`),
      team(`${p}t`, `${p}a`, { metadata: { private: parts.private } }),
      membership(`${p}t`, `${p}b`, { metadata: parts }),
      account(`${p}c`, { metadata: { public: { long: 'x'.repeat(8192) } } }),
      JSON.stringify(account(`${p}d`, { metadata: { public: { n: 0 } } })).replace('"n":0', '"n":9007199254740993'),
      JSON.stringify(account(`${p}e`, { metadata: { public: { n: 0 } } })).replace('"n"', '"__proto__"'),
      account(`${p}f`, { metadata: { public: [] } }),
    ]);

    expect(await start(path)).toMatchObject({ code: 1 });
    expect(refused(path).map(({ line, code, detail }) => [line, code, detail])).toEqual([
      [5, 'invalid', '/metadata/public: It has more than 8192 bytes of JSON.'],
      [6, 'invalid', expect.stringMatching(/^\/metadata\/public\/n: .*send this one as a string/)],
      [7, 'invalid', '/metadata/public/__proto__: No member can have this name.'],
      [8, 'invalid', '/metadata/public: invalid_type'],
    ]);
    const stored = await rowsOf(
      `select public_metadata::text as public, private_metadata::text as private, metadata_version as version
       from account where external_id = $1
       union all select public_metadata::text, private_metadata::text, metadata_version from team where external_id = $2
       union all select m.public_metadata::text, m.private_metadata::text, m.metadata_version
       from membership m join account a on a.id = m.account_id where a.external_id = $3`,
      [`${p}a`, `${p}t`, `${p}b`],
    );
    const [shown, hidden] = [JSON.stringify(parts.public), JSON.stringify(parts.private)];
    expect(stored).toEqual([
      { public: shown, private: hidden, version: 0 },
      { public: '{}', private: hidden, version: 0 },
      { public: shown, private: hidden, version: 0 },
    ]);
  });

  test('imports each row once, however often it runs, and leaves what exists as it is', async () => {
    const p = aPrefix();
    const lines = [account(`${p}a`), team(`${p}t`, `${p}a`), account(`${p}b`), membership(`${p}t`, `${p}b`)];
    const path = aFile(lines);
    expect(await importAll(path)).toMatchObject({ accounts: 2, teams: 1, memberships: 1 });
    await rowsOf(`update account set first_name = 'Changed' where external_id = $1`, [`${p}a`]);

    expect(await importAll(path)).toMatchObject({ accounts: 0, teams: 0, memberships: 0, existing: 4 });
    const more = aFile([account(`${p}a`, { firstName: 'Ann' }), ...lines.slice(1), account(`${p}c`), account(`${p}c`)]);
    expect(await importAll(more)).toMatchObject({ accounts: 1, existing: 5 });

    const names = await rowsOf(`select first_name from account where external_id = $1`, [`${p}a`]);
    expect(names).toEqual([{ first_name: 'Changed' }]);
  });

  test('lists imports, and cancels one: the same command then starts it anew', async () => {
    const p = aPrefix();
    const id = `imp_${p}`;
    const path = aFile([account(`${p}a`)]);
    const fingerprint = createHash('sha256').update(readFileSync(path)).digest('hex');
    await rowsOf(
      `insert into import_run (id, created_at, updated_at, fingerprint, stage, line, counts, report_bytes, batches)
       values ($1, now(), now(), $2, 'account', 7, '{"refused": 2}', 0, 3)`,
      [id, fingerprint],
    );
    const listed = async () =>
      (await json<{ id: string; status: string }[]>('import', 'list')).find((one) => one.id === id);
    expect(await listed()).toMatchObject({ status: 'running', operatorKeyId: null, line: 7, refused: 2 });

    expect(await json('import', 'cancel', '--import', id)).toEqual({ success: true });
    expect(await listed()).toMatchObject({ status: 'canceled' });
    expect(await run(env, ['import', 'cancel', '--import', id])).toMatchObject({
      code: 1,
      stderr: `roster: --import: no import ${id} is waiting or running\n`,
    });
    expect(await importAll(path)).toMatchObject({ rows: 1, accounts: 1 });
    expect(await run(env, ['import'])).toMatchObject({
      code: 1,
      stderr: 'roster: --from: name the file with the rows\n',
    });
  });

  const eventsSince = async (from: string) =>
    rowsOf<{ event: string; team_id: string | null; account_id: string | null; actor_kind: string; details: object }>(
      'select event, team_id, account_id, actor_kind, details from audit_event where id > $1 order by id',
      [from],
    );
  const newest = async () => (await rowsOf<{ id: string }>('select max(id) as id from audit_event'))[0]?.id ?? '';
  const namesOf = (events: readonly { event: string }[]) => events.map(({ event }) => event);

  test('records what it creates as changes of the operator, and sends no email', async () => {
    const p = aPrefix();
    const from = await newest();
    const emails = await waitingEmails();
    await importAll(
      aFile([
        account(`${p}a`),
        account(`${p}b`, { isDisabled: true }),
        team(`${p}t`, `${p}a`, { plan: 'pro' }),
        membership(`${p}t`, `${p}b`, { role: 'guest', isActive: false, expiresAt: '2999-01-01T01:00:00+01:00' }),
      ]),
    );

    const events = await eventsSince(from);
    expect(namesOf(events)).toEqual([
      'operator.import_started',
      'account.created',
      'account.created',
      'operator.account_disabled',
      'team.created',
      'member.added',
      'team.plan_set',
      'member.added',
      'import.completed',
    ]);
    expect(new Set(events.map(({ actor_kind: kind }) => kind))).toEqual(new Set(['operator_cli']));
    const [ann, bob] = events.slice(1).map(({ account_id: id }) => id);
    const { team_id: teamId } = events[4] ?? {};
    expect(events.slice(4)).toMatchObject([
      { team_id: teamId, account_id: ann },
      { team_id: teamId, account_id: ann, details: { roleId: 'owner' } },
      { team_id: teamId, details: { planId: 'pro' } },
      {
        team_id: teamId,
        account_id: bob,
        details: { roleId: 'guest', isActive: false, expiresAt: '2999-01-01T00:00:00.000Z' },
      },
      { details: { number: 4, isSilent: false } },
    ]);
    expect(await waitingEmails()).toEqual(emails);
  });

  test('with --silent records only what it adds to accounts and teams that it did not create', async () => {
    const [p, q] = [aPrefix(), aPrefix()];
    await importAll(aFile([account(`${p}a`), team(`${p}t`, `${p}a`)]));
    const from = await newest();

    const rows = [
      account(`${q}a`),
      account(`${q}b`),
      team(`${q}t`, `${q}a`),
      membership(`${q}t`, `${q}b`),
      membership(`${p}t`, `${q}b`),
      membership(`${q}t`, `${p}a`),
      team(`${q}u`, `${p}a`),
    ];
    expect(await json('import', '--from', aFile(rows), '--silent')).toMatchObject({ teams: 2, memberships: 3 });

    const events = await eventsSince(from);
    expect(namesOf(events)).toEqual([
      'operator.import_started',
      'team.created',
      'member.added',
      'member.added',
      'member.added',
      'import.completed',
    ]);
    const [ann] = await rowsOf<{ id: string }>('select id from account where external_id = $1', [`${p}a`]);
    const [acme] = await rowsOf<{ id: string }>('select id from team where external_id = $1', [`${p}t`]);
    for (const { team_id: teamId, account_id: accountId } of events.slice(1, -1))
      expect([teamId, accountId].filter((id) => id === ann?.id || id === acme?.id)).toHaveLength(1);
    expect(events.at(-1)?.details).toEqual({ number: 7, isSilent: true });
  });

  test('refuses each bad row with its line and reason, and imports the others', async () => {
    const p = aPrefix();
    const key = { type: 'apiKey', account: `${p}ok`, name: 'K', scopes: ['teams:read'], keyPrefix: 'k', last4: 'abcd' };
    const sha = (text: string) =>
      createHash('sha256')
        .update(p + text)
        .digest('hex');
    const cases: [line: object | string | Buffer, code: string][] = [
      ['{"type":"account"', 'malformed_json'],
      ['[]', 'malformed_json'],
      ['null', 'malformed_json'],
      ['"text"', 'malformed_json'],
      [{ type: 'user' }, 'unknown_type'],
      [{}, 'unknown_type'],
      [{ type: '__proto__' }, 'unknown_type'],
      [Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_utf8'],
      [account(`${p}x`, { firstName: 'x'.repeat(10_000_000) }), 'line_too_long'],
      [account(`${p}x`, { firstName: 'x'.repeat(256) }), 'invalid'],
      [account(`${p}x`, { firstName: 'a\u0000b' }), 'invalid'],
      [account(`${p}x`, { firstName: '\uD800' }), 'invalid'],
      [account(`${p}x`, { email: 'no address' }), 'invalid'],
      [account(`${p}x`, { email: null }), 'invalid'],
      [account(''), 'invalid'],
      [account(`${p}x`, { createdAt: 'yesterday' }), 'invalid'],
      [account(`${p}x`, { createdAt: '99999-01-01T00:00:00Z' }), 'invalid'],
      [account(`${p}x`, { avatar: 'javascript:alert(1)' }), 'invalid'],
      [account(`${p}x`, { passwordHash: 'plain text' }), 'invalid'],
      [account(`${p}x`, { passwordHash: `$2b$31$${'a'.repeat(53)}` }), 'invalid'],
      [account(`${p}x`, { email: `${p.toUpperCase()}OK@example.com` }), 'email_taken'],
      [team(`${p}t2`, `${p}nobody`), 'unknown_account'],
      [team(`${p}t2`, `${p}t`), 'unknown_account'],
      [team(`${p}t2`, `${p}ok`, { plan: 'gold' }), 'unknown_plan'],
      [team(`${p}t2`, `${p}ok`, { name: '\u202Eevil' }), 'invalid'],
      [membership(`${p}nowhere`, `${p}ok`), 'unknown_team'],
      [membership(`${p}t`, `${p}nobody`), 'unknown_account'],
      [membership(`${p}t`, `${p}other`, { role: 'owner' }), 'owner_exists'],
      [membership(`${p}t`, `${p}other`, { role: 'admin' }), 'unknown_role'],
      [{ ...key, secretHash: 'ff' }, 'invalid'],
      [{ ...key, secretHash: sha('a'), scopes: [] }, 'invalid'],
      [{ ...key, secretHash: sha('a'), scopes: ['everything'] }, 'invalid'],
      [{ ...key, secretHash: sha('a'), team: `${p}t`, scopes: ['profile:read'] }, 'invalid'],
      [{ ...key, secretHash: sha('a'), team: `${p}t`, account: `${p}other` }, 'not_a_member'],
      [{ ...key, secretHash: sha('a'), account: `${p}nobody` }, 'unknown_account'],
      [{ ...key, secretHash: sha('a'), keyPrefix: 'sk_live_abcdef' }, 'foreign_key'],
      [{ ...key, secretHash: sha('a'), team: `${p}t`, keyPrefix: 'rst_pk_abcdef' }, 'foreign_key'],
    ];
    const good = [
      account(`${p}ok`),
      account(`${p}other`),
      team(`${p}t`, `${p}ok`),
      membership(`${p}t`, `${p}ok`, { role: 'owner' }),
    ];
    const lines = [...good, ...cases.map(([line]) => line)].map((line) =>
      Buffer.isBuffer(line) ? line : Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)),
    );
    const path = aFile(Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\r\n')])));

    for (const args of [['--dry-run'], []]) {
      const { code, stdout, stderr } = await start(path, ...args);
      expect(stderr).toMatch(/37 of 41 rows were refused/);
      expect([code, JSON.parse(stdout)]).toMatchObject([
        1,
        { accounts: 2, teams: 1, memberships: 0, apiKeys: 0, existing: 1, refused: cases.length },
      ]);
      const report = refused(path).toSorted((a, b) => a.line - b.line);
      expect(report.map(({ line, code: reason }) => [line, reason])).toEqual(
        cases.map(([, reason], i) => [good.length + 1 + i, reason]),
      );
      expect(JSON.stringify(report)).not.toContain('plain text');
    }
  });
});
