import { describe, expect } from 'vitest';
import type { Problem } from '../../src/procedures/problem-details.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { problemOf, signedIn, type Visitor } from '../support/browser.ts';
import type { AnAccount } from '../support/factories.ts';

/** An account with a passkey, and the browser it was registered in. */
async function withPasskey(api: Api, options: { counts?: boolean } = {}) {
  const account = await api.anAccount();
  const visitor = await signedIn(api, account);
  const authenticator = createAuthenticator(options);
  const passkey = await register(visitor, authenticator);
  return { account, visitor, authenticator, passkey };
}

type Authenticator = ReturnType<typeof createAuthenticator>;

async function register(visitor: Visitor, authenticator = createAuthenticator(), name = 'A passkey') {
  const options = await visitor.trpc.passkeys.registrationOptions.mutate();
  return visitor.trpc.passkeys.register.mutate({ name, response: authenticator.create(options) });
}

/** The outcome of trying to sign in: the problem, or undefined for success. */
async function trySignIn(visitor: Visitor, authenticator: Authenticator, lies?: Parameters<Authenticator['get']>[1]) {
  const options = await visitor.trpc.passkeys.signInOptions.mutate();
  return outcomeOf(visitor.trpc.passkeys.signIn.mutate({ response: authenticator.get(options, lies) }));
}

const outcomeOf = async (call: Promise<unknown>): Promise<Problem | undefined> => {
  let succeeded = false;
  const noted = call.then((value) => {
    succeeded = true;
    return value;
  });
  return problemOf(noted).catch((error: unknown) => {
    if (succeeded) return undefined;
    throw error;
  });
};

const sessionsOf = (api: Api, { id }: AnAccount) =>
  api.rows<{ authentication_type: string; revoked_at: string | null }>(
    'select authentication_type, revoked_at from session where account_id = $1 order by created_at',
    [id],
  );

/** How many statements wait for a row of the table. */
async function waitingFor(api: Api, table: string): Promise<number> {
  const rows = await api.rows(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
    [`%from ${table} %for update%`],
  );
  return rows.length;
}

const refusal = expect.objectContaining({ code: 'passkey_refused', status: 401 });

describe('passkeys.registrationOptions', () => {
  // Guarantees that a passkey suffices alone: the authenticator knows the account and makes sure of the person.
  test('asks for a passkey that knows the account and verifies the person, on the host of BASE_URL', async ({
    api,
  }) => {
    const account = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
    const visitor = await signedIn(api, account);

    const options = await visitor.trpc.passkeys.registrationOptions.mutate();

    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { id: Buffer.from(account.id).toString('base64url'), name: account.email, displayName: 'Ada Lovelace' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    });
    expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32);
  });

  test('excludes the passkeys of the account, and none of other accounts', async ({ api }) => {
    await withPasskey(api);
    const { visitor, authenticator } = await withPasskey(api);

    const { excludeCredentials } = await visitor.trpc.passkeys.registrationOptions.mutate();

    expect(excludeCredentials).toEqual([
      { type: 'public-key', id: authenticator.credentialId, transports: ['internal'] },
    ]);
  });

  test('is for people who are signed in, not for keys', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['profile:write'] });
    const headers = { 'content-type': 'application/json' };
    const answer = await api
      .as(key)
      .send({ method: 'POST', path: '/trpc/passkeys.registrationOptions', headers, body: '{}' });

    expect(answer.body.error.data.problem).toMatchObject({ code: 'session_required', status: 403 });
    expect(await problemOf(api.visitor().trpc.passkeys.registrationOptions.mutate())).toMatchObject({
      code: 'credential_missing',
    });
  });
});

describe('passkeys.register', () => {
  test('adds a passkey to the list', async ({ api }) => {
    const { visitor, passkey } = await withPasskey(api);

    expect(passkey).toEqual({ id: passkey.id, name: 'A passkey', createdAt: passkey.createdAt, lastUsedAt: null });
    expect(await visitor.trpc.passkeys.list.query()).toEqual([passkey]);
  });

  // Guarantees that signatures for another page or host are rejected.
  test.for([
    ['another origin', { origin: 'https://localhost.example' }],
    ['another port', { origin: 'http://localhost:3001' }],
    ['another relying party', { rpId: 'example.com' }],
    ['no verification of the person', { userVerified: false }],
    ['a signature for a sign-in', { type: 'webauthn.get' }],
    ['an invented challenge', { challenge: Buffer.alloc(32, 7).toString('base64url') }],
    ['a challenge that no database can hold', { challenge: '\u0000' }],
  ] as const)('refuses %s, and adds nothing', async ([, lies], { api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const options = await visitor.trpc.passkeys.registrationOptions.mutate();
    const response = createAuthenticator().create(options, lies);

    expect(await problemOf(visitor.trpc.passkeys.register.mutate({ name: 'Mine', response }))).toEqual(refusal);
    expect(await visitor.trpc.passkeys.list.query()).toEqual([]);
  });

  // Guarantees that an attacker cannot add a passkey to another user's account.
  test('rejects the challenge of another account, and of a sign-in', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const stranger = await signedIn(api, await api.anAccount());
    const options = await stranger.trpc.passkeys.registrationOptions.mutate();
    const { challenge } = await visitor.trpc.passkeys.signInOptions.mutate();
    const register = (response: ReturnType<Authenticator['create']>) =>
      visitor.trpc.passkeys.register.mutate({ name: 'Mine', response });

    expect(await problemOf(register(createAuthenticator().create(options)))).toEqual(refusal);
    expect(await problemOf(register(createAuthenticator().create({ ...options, challenge })))).toEqual(refusal);
    expect(await visitor.trpc.passkeys.list.query()).toEqual([]);
  });

  test('rejects a challenge after five minutes', async ({ api }) => {
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);
    const options = await visitor.trpc.passkeys.registrationOptions.mutate();
    const [row] = await api.rows<{ seconds: string }>(
      `update passkey_challenge set expires_at = now() - interval '1 ms' where account_id = $1
       returning extract(epoch from (select expires_at from passkey_challenge c where c.id = passkey_challenge.id) - created_at) as seconds`,
      [account.id],
    );

    expect(Number(row?.seconds)).toBeCloseTo(300, 0);
    const response = createAuthenticator().create(options);
    expect(await problemOf(visitor.trpc.passkeys.register.mutate({ name: 'Late', response }))).toEqual(refusal);
  });

  test('a challenge is answered once, also if the answer was rejected', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const options = await visitor.trpc.passkeys.registrationOptions.mutate();
    const authenticator = createAuthenticator();
    const register = (lies: Parameters<Authenticator['create']>[1]) =>
      visitor.trpc.passkeys.register.mutate({ name: 'Mine', response: authenticator.create(options, lies) });

    expect(await problemOf(register({ origin: 'https://example.com' }))).toEqual(refusal);
    expect(await problemOf(register({}))).toEqual(refusal);
  });

  test('eight parallel uses of one response add one passkey', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const response = createAuthenticator().create(await visitor.trpc.passkeys.registrationOptions.mutate());
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => outcomeOf(visitor.trpc.passkeys.register.mutate({ name: 'Mine', response }))),
    );

    expect(outcomes.filter((problem) => problem === undefined)).toHaveLength(1);
    expect(outcomes.filter((problem) => problem?.code === 'passkey_refused')).toHaveLength(7);
    expect(await visitor.trpc.passkeys.list.query()).toHaveLength(1);
  });

  // Guarantees that a password reset, or the proof of the mailbox, removes passkeys of earlier users.
  test('adds nothing for a session that ends while it registers', async ({ api }) => {
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);
    const response = createAuthenticator().create(await visitor.trpc.passkeys.registrationOptions.mutate());

    const outcome = await api.services.db.transact(async ({ em: tx }) => {
      await tx.execute('select id from account where id = ? for update', [account.id]);
      const call = outcomeOf(visitor.trpc.passkeys.register.mutate({ name: 'Late', response }));
      await expect.poll(() => waitingFor(api, 'account')).toBeGreaterThan(0);
      await tx.execute('update session set revoked_at = now() where account_id = ?', [account.id]);
      return { call };
    });

    expect(await outcome.call).toMatchObject({ code: 'credential_invalid' });
    expect(await api.rows('select id from passkey where account_id = $1', [account.id])).toEqual([]);
  });

  test('rejects a credential that another account registered', async ({ api }) => {
    const { authenticator } = await withPasskey(api);
    const visitor = await signedIn(api, await api.anAccount());
    const options = await visitor.trpc.passkeys.registrationOptions.mutate();
    const response = authenticator.create(options);

    expect(await problemOf(visitor.trpc.passkeys.register.mutate({ name: 'Mine', response }))).toEqual(refusal);
    expect(await visitor.trpc.passkeys.list.query()).toEqual([]);
  });

  test('rejects a response that names another credential than the authenticator created', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const response = createAuthenticator().create(await visitor.trpc.passkeys.registrationOptions.mutate());
    const id = createAuthenticator().credentialId;

    expect(
      await problemOf(
        visitor.trpc.passkeys.register.mutate({ name: 'Mine', response: { ...response, id, rawId: id } }),
      ),
    ).toEqual(refusal);
  });

  // Guarantees that no certificate is parsed and no revocation list fetched for an attestation that was not requested.
  test('does not look at attestations', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const options = await visitor.trpc.passkeys.registrationOptions.mutate();
    const attStmt = new Map<string, unknown>([
      ['alg', -7],
      ['sig', new Uint8Array(8)],
      ['x5c', [new Uint8Array([1, 2, 3])]],
    ]);
    const response = createAuthenticator().create(options, { attestation: { fmt: 'packed', attStmt } });

    expect(await visitor.trpc.passkeys.register.mutate({ name: 'Attested', response })).toMatchObject({
      name: 'Attested',
    });
  });

  // Guarantees that no response, however broken, is a fault of ours.
  test.for([
    ['clientDataJSON', Buffer.from('no json').toString('base64url')],
    ['clientDataJSON', Buffer.from('null').toString('base64url')],
    ['clientDataJSON', Buffer.from('{"challenge":{}}').toString('base64url')],
    ['clientDataJSON', ''],
    ['attestationObject', ''],
    ['attestationObject', Buffer.from('no CBOR').toString('base64url')],
    ['attestationObject', Buffer.from([0xa0]).toString('base64url')],
    ['attestationObject', Buffer.from([0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).toString('base64url')],
  ] as const)('refuses %s of %s', async ([member, value], { api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const { response, ...credential } = createAuthenticator().create(
      await visitor.trpc.passkeys.registrationOptions.mutate(),
    );
    const broken = { ...credential, response: { ...response, [member]: value } };

    expect(await problemOf(visitor.trpc.passkeys.register.mutate({ name: 'Broken', response: broken }))).toEqual(
      refusal,
    );
  });

  test('a name has 1 to 100 code points', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const options = await visitor.trpc.passkeys.registrationOptions.mutate();
    const response = createAuthenticator().create(options);
    const named = (name: string) => visitor.trpc.passkeys.register.mutate({ name, response });

    expect(await problemOf(named(''))).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/name', code: 'min_length', params: { min: 1 } }],
    });
    expect(await problemOf(named('🔑'.repeat(101)))).toMatchObject({
      errors: [{ pointer: '/name', code: 'max_length', params: { max: 100 } }],
    });
    expect(await problemOf(named('a\u0000b'))).toMatchObject({ errors: [{ code: 'invalid_format' }] });
    expect(await named('🔑'.repeat(100))).toMatchObject({ name: '🔑'.repeat(100) });
  });

  // Guarantees the bound of 20 also for registrations that overtake each other.
  test('an account has at most 20 passkeys', async ({ api }) => {
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);
    for (let i = 0; i < 18; i++) await register(visitor);
    const options = await Promise.all(
      Array.from({ length: 4 }, () => visitor.trpc.passkeys.registrationOptions.mutate()),
    );
    const outcomes = await Promise.all(
      options.map((each) =>
        outcomeOf(
          visitor.trpc.passkeys.register.mutate({ name: 'One more', response: createAuthenticator().create(each) }),
        ),
      ),
    );

    const full = {
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '', code: 'max_length', params: { max: 20 } }],
    };
    expect(outcomes.filter((problem) => problem !== undefined)).toEqual([
      expect.objectContaining(full),
      expect.objectContaining(full),
    ]);
    expect(await visitor.trpc.passkeys.list.query()).toHaveLength(20);
    expect(await problemOf(visitor.trpc.passkeys.registrationOptions.mutate())).toMatchObject(full);
  });
});

describe('passkeys.signIn', () => {
  test('signs the owner in, without a name or a password', async ({ api }) => {
    const { account, authenticator } = await withPasskey(api);
    const visitor = api.visitor();

    expect(await visitor.trpc.passkeys.signInOptions.mutate()).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rpId: 'localhost',
      timeout: 300_000,
      userVerification: 'required',
    });
    expect(await trySignIn(visitor, authenticator)).toBeUndefined();

    expect(await visitor.trpc.getMe.query()).toMatchObject({ id: account.id });
    const current = (await visitor.trpc.listMySessions.query()).find(({ isCurrentSession }) => isCurrentSession);
    expect(current).toMatchObject({ authenticationType: 'passkey', browser: 'Firefox', os: 'Linux' });
    expect((await visitor.trpc.passkeys.list.query())[0]?.lastUsedAt).not.toBeNull();
  });

  test('begins a session under a new token and ends the one before', async ({ api }) => {
    const { account, visitor, authenticator } = await withPasskey(api);
    const before = visitor.cookies.get('roster_session_3000');

    expect(await trySignIn(visitor, authenticator)).toBeUndefined();

    expect(visitor.cookies.get('roster_session_3000')).not.toBe(before);
    expect((await sessionsOf(api, account)).map(({ revoked_at: end }) => end !== null)).toEqual([true, false]);
  });

  test('rejects a response that was used', async ({ api }) => {
    const { account, authenticator } = await withPasskey(api, { counts: false });
    const visitor = api.visitor();
    const response = authenticator.get(await visitor.trpc.passkeys.signInOptions.mutate());
    await visitor.trpc.passkeys.signIn.mutate({ response });

    expect(await problemOf(api.visitor().trpc.passkeys.signIn.mutate({ response }))).toEqual(refusal);
    expect(await sessionsOf(api, account)).toHaveLength(2);
  });

  test('eight parallel uses of one response begin one session', async ({ api }) => {
    const { account, authenticator } = await withPasskey(api, { counts: false });
    const response = authenticator.get(await api.visitor().trpc.passkeys.signInOptions.mutate());
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => outcomeOf(api.visitor().trpc.passkeys.signIn.mutate({ response }))),
    );

    expect(outcomes.filter((problem) => problem === undefined)).toHaveLength(1);
    expect(outcomes.filter((problem) => problem?.code === 'passkey_refused')).toHaveLength(7);
    expect((await sessionsOf(api, account)).filter(({ authentication_type: by }) => by === 'passkey')).toHaveLength(1);
  });

  test.for([
    ['another origin', { origin: 'https://localhost.example' }],
    ['another relying party', { rpId: 'example.com' }],
    ['no verification of the person', { userVerified: false }],
    ['a signature for a registration', { type: 'webauthn.create' }],
    ['an invented challenge', { challenge: Buffer.alloc(32, 7).toString('base64url') }],
    ['another signature', { signature: Buffer.from('3006020101020101', 'hex').toString('base64url') }],
    ['a signature that is none', { signature: 'AAAA' }],
    ['the handle of another account', { userHandle: Buffer.from('acc_somebody').toString('base64url') }],
  ] as const)('refuses %s, and begins no session', async ([, lies], { api }) => {
    const { account, authenticator } = await withPasskey(api);
    const visitor = api.visitor();

    expect(await trySignIn(visitor, authenticator, lies)).toEqual(refusal);
    expect(visitor.cookies.size).toBe(0);
    expect(await sessionsOf(api, account)).toHaveLength(1);
  });

  test('an authenticator may leave out whose key it is', async ({ api }) => {
    const { authenticator } = await withPasskey(api);

    expect(await trySignIn(api.visitor(), authenticator, { userHandle: undefined })).toBeUndefined();
  });

  test('rejects the challenge of a registration, also the account’s own', async ({ api }) => {
    const { visitor, authenticator } = await withPasskey(api);
    const { challenge } = await visitor.trpc.passkeys.registrationOptions.mutate();
    const response = authenticator.get({ challenge, rpId: 'localhost' });

    expect(await problemOf(visitor.trpc.passkeys.signIn.mutate({ response }))).toEqual(refusal);
  });

  test('rejects a challenge after five minutes', async ({ api }) => {
    const { authenticator } = await withPasskey(api);
    const visitor = api.visitor();
    const options = await visitor.trpc.passkeys.signInOptions.mutate();
    await api.rows(`update passkey_challenge set expires_at = now() - interval '1 ms' where challenge = $1`, [
      options.challenge,
    ]);

    expect(await problemOf(visitor.trpc.passkeys.signIn.mutate({ response: authenticator.get(options) }))).toEqual(
      refusal,
    );
  });

  // Guarantees that a copy of an authenticator that counts is noticed.
  test('rejects a counter that does not increase, and continues from the highest', async ({ api }) => {
    const { authenticator } = await withPasskey(api);

    expect(await trySignIn(api.visitor(), authenticator, { counter: 41 })).toBeUndefined();
    expect(await trySignIn(api.visitor(), authenticator, { counter: 40 })).toEqual(refusal);
    expect(await trySignIn(api.visitor(), authenticator, { counter: 41 })).toEqual(refusal);
    expect(await trySignIn(api.visitor(), authenticator, { counter: 0 })).toEqual(refusal);
    expect(await trySignIn(api.visitor(), authenticator, { counter: 4_294_967_295 })).toBeUndefined();
  });

  test('an authenticator that does not count signs in again and again', async ({ api }) => {
    const { authenticator } = await withPasskey(api, { counts: false });

    expect(await trySignIn(api.visitor(), authenticator)).toBeUndefined();
    expect(await trySignIn(api.visitor(), authenticator)).toBeUndefined();
  });

  // Guarantees that an error does not reveal whether the passkey exists, or the state of its account.
  test('a disabled account, an unknown and a removed passkey get the same error', async ({ api }) => {
    const disabled = await withPasskey(api);
    const removed = await withPasskey(api);
    await register(removed.visitor);
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.account.id]);
    await removed.visitor.trpc.passkeys.remove.mutate({ id: removed.passkey.id });

    const refusals = [
      await trySignIn(api.visitor(), disabled.authenticator),
      await trySignIn(api.visitor(), removed.authenticator),
      await trySignIn(api.visitor(), createAuthenticator()),
    ];

    expect(refusals.map((problem) => ({ ...problem, requestId: '' }))).toEqual(
      Array(3).fill({ ...refusals[0], requestId: '' }),
    );
    expect(refusals[0]).toEqual(refusal);
    expect(await sessionsOf(api, disabled.account)).toHaveLength(1);
  });

  // Guarantees that an office behind one address can open the sign-in page as often as it likes.
  test('failed attempts from one address are bounded; questions and successes do not count', async () => {
    const api = await startApi({ SIGN_IN_ADDRESS_LIMIT: '2' });
    const { authenticator } = await withPasskey(api);
    for (let i = 0; i < 4; i++) await api.visitor().trpc.passkeys.signInOptions.mutate();

    const outcomes = [];
    for (const lies of [{}, { rpId: 'example.com' }, {}, { rpId: 'example.com' }, {}]) {
      outcomes.push((await trySignIn(api.visitor(), authenticator, lies))?.code);
    }
    await api.close();

    expect(outcomes).toEqual([undefined, 'passkey_refused', undefined, 'passkey_refused', 'rate_limited']);
  });

  // Guarantees that another site cannot sign a user in to an account of its choice.
  test('rejects calls from another site', async ({ api }) => {
    const { authenticator } = await withPasskey(api);
    const visitor = api.visitor();
    const options = await visitor.trpc.passkeys.signInOptions.mutate();
    visitor.headers['sec-fetch-site'] = 'cross-site';

    expect(
      await problemOf(visitor.trpc.passkeys.signIn.mutate({ response: authenticator.get(options) })),
    ).toMatchObject({ code: 'cross_site_request' });
  });
});

describe('passkeys.rename', () => {
  test('renames passkeys of the account, and finds none of others', async ({ api }) => {
    const { visitor, passkey } = await withPasskey(api);
    const stranger = await withPasskey(api);

    const rename = (id: string) => visitor.trpc.passkeys.rename.mutate({ id, name: 'Renamed' });

    expect(await rename(passkey.id)).toEqual({ ...passkey, name: 'Renamed' });
    expect(await problemOf(rename(stranger.passkey.id))).toMatchObject({ code: 'passkey_not_found', status: 404 });
    expect(await stranger.visitor.trpc.passkeys.list.query()).toEqual([stranger.passkey]);
  });
});

describe('passkeys.remove', () => {
  test('removes passkeys of the account, and finds none of others', async ({ api }) => {
    const { visitor, passkey } = await withPasskey(api);
    const other = await register(visitor, createAuthenticator(), 'Other');
    const stranger = await withPasskey(api);

    const remove = (id: string) => visitor.trpc.passkeys.remove.mutate({ id });

    expect(await problemOf(remove(stranger.passkey.id))).toMatchObject({ code: 'passkey_not_found' });
    expect(await remove(passkey.id)).toEqual({ success: true });
    expect(await problemOf(remove(passkey.id))).toMatchObject({ code: 'passkey_not_found' });
    expect(await visitor.trpc.passkeys.list.query()).toEqual([other]);
    expect(await stranger.visitor.trpc.passkeys.list.query()).toHaveLength(1);
  });

  // Guarantees that users cannot lock themselves out.
  test('keeps the only way to sign in, until there is a password', async ({ api }) => {
    const { account, visitor, passkey } = await withPasskey(api);
    const remove = () => visitor.trpc.passkeys.remove.mutate({ id: passkey.id });

    expect(await problemOf(remove())).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/id', code: 'invalid_value' }],
    });
    expect(await visitor.trpc.passkeys.list.query()).toEqual([passkey]);

    await api.rows(`update account set password_hash = 'a hash' where id = $1`, [account.id]);
    expect(await remove()).toEqual({ success: true });
  });

  test('of two concurrent removals of the last two passkeys one fails', async ({ api }) => {
    const { visitor, passkey } = await withPasskey(api);
    const other = await register(visitor);
    const outcomes = await Promise.all(
      [passkey.id, other.id].map((id) => outcomeOf(visitor.trpc.passkeys.remove.mutate({ id }))),
    );

    expect(outcomes.flatMap((problem) => problem?.code ?? [])).toEqual(['validation_failed']);
    expect(await visitor.trpc.passkeys.list.query()).toHaveLength(1);
  });
});
