import { describe, expect, test } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import { hashPassword, verifyPassword } from '../../src/crypto/password-hash.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { newId } from '../../src/entities/index.ts';
import { createApiKeyFor } from '../../src/resources/api-keys/creation.service.ts';
import { anId, anInstant, rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();

describe('account create', () => {
  test('says how an operator signs in, and says nothing of it for others', async () => {
    const create = (email: string, ...options: string[]) =>
      roster.run('account', 'create', '--email', email, ...options);
    const operator = await create('operator@first.example', '--role', 'admin', '--verified');
    const user = await create('user@first.example');

    expect(operator.stdout).toMatch(
      /Sign in at http:\/\/localhost:3000\/sign-in with a link to operator@first\.example, then open http:\/\/localhost:3000\/operator\.\n$/,
    );
    expect(user.stdout).not.toContain('Sign in');

    // Guarantees that nobody becomes an operator in silence.
    await create('another@first.example', '--role', 'admin', '--verified');
    expect(
      await roster.rows(
        `select payload ->> 'kind' as kind, payload ->> 'thing' as thing, payload ->> 'to' as to from graphile_worker._private_jobs`,
      ),
    ).toEqual([{ kind: 'operator_added', thing: 'another@first.example', to: 'operator@first.example' }]);
  });

  test('prints the account and stores an Argon2id hash, never the password', async () => {
    const account = await roster.json<{ id: string }>(
      'account',
      'create',
      '--email',
      'Ada@Example.com',
      '--first-name',
      '李',
      '--last-name',
      'Byron',
      '--password',
      'correct horse',
      '--role',
      'admin',
      '--verified',
    );

    expect(account).toEqual({
      id: anId('acc'),
      email: 'Ada@Example.com',
      firstName: '李',
      lastName: 'Byron',
      role: 'admin',
      avatar: null,
      preferredLocale: null,
      emailVerified: anInstant,
      createdAt: anInstant,
      updatedAt: anInstant,
    });
    const [row] = await roster.rows<{ password_hash: string }>('select password_hash from account where id = $1', [
      account.id,
    ]);
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('correct horse', row?.password_hash ?? null)).toBe(true);
  });

  // Guarantees one account per mailbox, also for two operators at the same moment.
  test('of two with one email address in two spellings one fails', async () => {
    const runs = await Promise.all([
      roster.run('account', 'create', '--email', 'twin@example.com'),
      roster.run('account', 'create', '--email', 'TWIN@Example.com'),
    ]);

    expect(runs.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(runs.filter(({ code }) => code === 1)).toHaveLength(1);
    const made = runs.find(({ code }) => code === 0)?.stdout ?? '';
    expect(made).toMatch(/^acc_[0-9a-v]{26} {2}twin@example\.com {2}\(user, unverified\)\n$/i);
    expect(runs.find(({ code }) => code === 1)?.stderr).toMatch(
      /^roster: --email: An account with the address \S+ exists already\.\n$/,
    );
  });

  test('an id of the operator’s own system belongs to one account', async () => {
    const create = (email: string) => ['account', 'create', '--email', email, '--external-id', 'crm-7'];
    await roster.json(...create('seven@example.com'));

    expect(await roster.refusal(...create('other@example.com'))).toBe(
      '--external-id: An account with the external id crm-7 exists already.',
    );
    expect(await roster.rows(`select email from account where external_id = 'crm-7'`)).toEqual([
      { email: 'seven@example.com' },
    ]);
  });

  test('rejects invalid options in one line that names the option', async () => {
    const create = (...args: string[]) => roster.refusal('account', 'create', ...args);

    const lines = await Promise.all([
      create(),
      create('--email', 'nobody'),
      create('--email', 'x@example.com', '--role', 'root'),
      create('--email', 'x@example.com', '--first-name', ''),
      create('--email', 'x@example.com', '--password', '7 chars'),
      roster.refusal('account', 'disable', '--email', 'nobody@example.com'),
    ]);

    expect(lines).toEqual([
      "required option '--email <address>' not specified",
      "option '--email <address>' argument 'nobody' is invalid. It must be an email address.",
      "option '--role <role>' argument 'root' is invalid. Allowed choices are user, admin.",
      "option '--first-name <name>' argument '' is invalid. It must have 1 to 255 visible characters in one line.",
      '--password: A password has 8 to 128 characters.',
      '--email: no account has the email address nobody@example.com',
    ]);
  });
});

describe('account disable, enable and list', () => {
  test('disabling rejects keys and revokes sessions; enabling restores the keys, not the sessions', async () => {
    const { id, email } = await roster.account();
    const tokens = createTokens('rst');
    const { secret } = await createApiKeyFor({ db: roster.db, tokens }, 'system', id, {
      name: 'Key',
      scopes: ['teams:read'],
      expiresAt: null,
    });
    await roster.rows(
      `insert into session (id, account_id, token_hash, created_at, expires_at, idle_expires_at)
       values ($1, $2, $3, now(), now() + '1 day', now() + '1 day')`,
      [newId('ses'), id, Buffer.from(id)],
    );
    const principal = async () => (await authenticate(roster.db, tokens, secret, null)).principal;
    // The command line can disable the last operator too.
    await roster.rows(`update account set role = 'admin' where id = $1`, [id]);
    const liveSessions = () => roster.rows('select id from session where account_id = $1 and revoked_at is null', [id]);

    expect(await roster.json('account', 'disable', '--email', email.toUpperCase())).toMatchObject({
      id,
      disabled: true,
    });
    expect(await principal()).toBeNull();
    expect(await liveSessions()).toEqual([]);
    const listed = await roster.json<{ id: string; disabled: boolean }[]>('account', 'list');
    expect(listed.filter(({ disabled }) => disabled).map((account) => account.id)).toEqual([id]);

    expect(await roster.json('account', 'enable', '--email', email)).toMatchObject({ id, disabled: false });
    expect(await principal()).toMatchObject({ accountId: id });
    expect(await liveSessions()).toEqual([]);
  });
});

describe('a password hash', () => {
  test('accepts only its password, however its accents are composed', async () => {
    const hash = await hashPassword('caf\u00e9 au lait');

    expect(await verifyPassword('cafe\u0301 au lait', hash)).toBe(true);
    expect(await verifyPassword('cafe au lait', hash)).toBe(false);
    expect(await hashPassword('caf\u00e9 au lait')).not.toBe(hash);
  });

  test('no hash fits no password', async () => {
    expect(await verifyPassword('', null)).toBe(false);
  });
});
