import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';
import { startApi } from '../support/api.ts';
import { foreignHashes } from '../support/foreign-hashes.ts';
import { account, aFile, aPrefix, membership, team, type Counts } from './import-file.ts';
import { rosterOfItsOwn, run } from './roster.ts';

const { env, db, json } = await rosterOfItsOwn();

const rowsOf = <Row>(text: string, values: readonly unknown[] = []) =>
  db.run<Row>({ kind: 'command', name: '', text }, values);

const start = (path: string, ...args: string[]) => run(env, ['import', '--from', path, ...args, '--json']);

const importAll = (path: string, ...args: string[]) => json<Counts>('import', '--from', path, ...args);

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

  test('records one event, and sends no email and no webhook', async () => {
    const p = aPrefix();
    const events = () =>
      rowsOf<{ event: string; details: object }>('select event, details from audit_event order by id');
    const before = await events();
    await importAll(aFile([account(`${p}a`), account(`${p}b`), team(`${p}t`, `${p}a`), membership(`${p}t`, `${p}b`)]));

    const { length } = before;
    expect((await events()).slice(length)).toEqual([{ event: 'operator.import_started', details: { number: 4 } }]);
    expect(await rowsOf(`select 1 from graphile_worker.jobs where task_identifier like 'send%'`)).toEqual([]);
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
      [membership(`${p}t`, `${p}other`, { role: 'admin' }), 'invalid'],
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
