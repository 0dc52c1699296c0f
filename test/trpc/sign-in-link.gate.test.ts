import { describe, expect } from 'vitest';
import { startApi, test, type Api } from '../support/api.ts';
import {
  accountAt,
  allMailed,
  anAddress,
  aPerson,
  aService,
  aSignedIn,
  codeOf,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  tokenTo,
} from './people.ts';

const LINK = /^Your sign-in link$/;

async function aLink(api: Api, email: string): Promise<string> {
  await api.visitor().trpc.auth.emailSignInLink.mutate({ email });
  await allMailed(api);
  return tokenTo(api, email, LINK);
}

/** Uses up what strangers share for an account: ten wrong passwords. */
async function exhaust(api: Api, email: string): Promise<void> {
  for (let i = 0; i < 10; i += 1) await codeOf(signIn(api.visitor(), email, 'a wrong password 1'));
  expect(await codeOf(signIn(api.visitor(), email, 'a wrong password 1'))).toBe('rate_limited');
}

describe('a sign-in link', () => {
  test('signs in once, where its button is pressed; reading it changes nothing', async ({ api }) => {
    const { email } = await aPerson(api);
    const token = await aLink(api, email.toUpperCase());
    const visitor = api.visitor();

    expect(await visitor.trpc.auth.readSignInLink.mutate({ token })).toEqual({ email });
    expect(await visitor.trpc.auth.readSignInLink.mutate({ token })).toEqual({ email });
    expect(visitor.cookies.has('roster_session_3000')).toBe(false);
    expect(await visitor.trpc.auth.signInWithLink.mutate({ token })).toEqual({ success: true });

    expect((await visitor.trpc.getMe.query()).email).toBe(email);
    expect(await visitor.trpc.listMySessions.query()).toMatchObject([{ authenticationType: 'email_link' }]);
    expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token }))).toBe('link_invalid');
    expect(await codeOf(visitor.trpc.auth.readSignInLink.mutate({ token }))).toBe('link_invalid');
  });

  test('of eight concurrent uses works once', async ({ api }) => {
    const { email } = await aPerson(api);
    const token = await aLink(api, email);

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token }))),
    );

    expect(answers.toSorted()).toEqual([...Array<string>(7).fill('link_invalid'), 'ok']);
  });

  test('is of one kind: no other link signs in, and it resets nothing', async ({ api }) => {
    const { email } = await aPerson(api);
    const token = await aLink(api, email);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const reset = await tokenTo(api, email, /^Reset/);
    const { trpc } = api.visitor();

    expect(await codeOf(trpc.auth.signInWithLink.mutate({ token: reset }))).toBe('link_invalid');
    expect(await codeOf(trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD }))).toBe('link_invalid');
    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token }))).toBe('link_invalid');
    for (const malformed of ['', 'nonsense', `${token}x`]) {
      expect(await codeOf(trpc.auth.signInWithLink.mutate({ token: malformed }))).toBe('link_invalid');
    }
  });

  test('is not sent to an unknown, a disabled or a merely attempted account; the response is the same', async ({
    api,
  }) => {
    const disabled = await aPerson(api);
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.id]);
    const attempted = anAddress();
    await api.visitor().trpc.auth.signUp.mutate({ email: attempted, password: PASSWORD });
    const emails = [disabled.email, attempted, anAddress()];

    for (const email of emails) {
      expect(await api.visitor().trpc.auth.emailSignInLink.mutate({ email })).toEqual({ success: true });
    }

    await allMailed(api);
    expect(api.mails.filter(({ to, subject }) => emails.includes(to) && LINK.test(subject))).toEqual([]);
  });

  test('ends with the password that is reset, and with the account that is disabled', async ({ api }) => {
    const { id, email } = await aPerson(api);
    const first = await aLink(api, email);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const reset = { token: await tokenTo(api, email, /^Reset/), password: OTHER_PASSWORD };
    await api.visitor().trpc.auth.resetPassword.mutate(reset);
    expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token: first }))).toBe('link_invalid');

    const second = await aLink(api, email);
    await api.rows('update account set disabled_at = now() where id = $1', [id]);
    expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token: second }))).toBe('link_invalid');
  });

  // Guarantees that access which an attacker prepared in an account of the previous version is revoked with it.
  test('proves the mailbox: an unverified account is verified, and what was there before ends', async ({ api }) => {
    const stranger = await aSignedIn(api, { isVerified: false });
    const token = await aLink(api, stranger.email);
    const owner = api.visitor();

    await owner.trpc.auth.signInWithLink.mutate({ token });

    expect((await owner.trpc.getMe.query()).emailVerified).not.toBeNull();
    expect(await codeOf(stranger.visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), stranger.email))).toBe('sign_in_failed');
    expect((await accountAt(api, stranger.email))?.['password_hash']).toBeNull();
  });
});

describe('the owner always gets in', () => {
  // Guarantees that attackers who request links leave the mailbox with valid ones, whatever they request.
  test('by the links that attackers have requested, for as long as they are counted', async ({ api }) => {
    const { email } = await aPerson(api);
    await exhaust(api, email);
    const tokens: string[] = [];
    for (let i = 0; i < 5; i += 1) tokens.push(await aLink(api, email));
    await api.visitor().trpc.auth.emailSignInLink.mutate({ email });
    await allMailed(api);
    expect(api.mails.filter(({ to }) => to === email)).toHaveLength(5);

    const [left] = await api.rows<{ least: number }>(
      `select extract(epoch from min(t.expires_at) - (min(s.created_at) + interval '1 hour'))::float8 as least
       from account_token t join account a on a.id = t.account_id join sent_mail s on s.recipient = lower(a.email)
       where a.email = $1 and t.purpose = 'sign_in'`,
      [email],
    );
    expect(left?.least).toBeGreaterThanOrEqual(-0.01);
    expect(new Set(tokens).size).toBe(5);
    for (const token of [tokens[0] ?? '', tokens[4] ?? '']) {
      expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token }))).toBe('ok');
    }
  });

  test('by a sign-in link, although attackers have exhausted the links of other kinds', async ({ api }) => {
    const { email } = await aPerson(api);
    for (let i = 0; i < 6; i += 1) {
      await api.visitor().trpc.auth.forgotPassword.mutate({ email });
      await allMailed(api);
    }
    const mallory = await aSignedIn(api);
    await mallory.visitor.trpc.account.changeEmail.mutate({ newEmail: email });

    expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token: await aLink(api, email) }))).toBe('ok');
  });

  test('by a valid link, although attackers at the same client address have tried many', async () => {
    const api = await aService({ SIGN_IN_ADDRESS_LIMIT: '4' });
    const { email } = await aPerson(api);
    const token = await aLink(api, email);
    const invalid = api.services.tokens.generate('signInLink').secret;
    for (let i = 0; i < 4; i += 1) await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token: invalid }));
    expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token: invalid }))).toBe('rate_limited');

    expect(await codeOf(api.visitor().trpc.auth.signInWithLink.mutate({ token }))).toBe('ok');
  });

  test.for(['verification', 'reset', 'sign-in link'] as const)(
    'with the password in a browser that has followed a %s, whatever strangers guess',
    async (kind, { api }) => {
      const browser = api.visitor();
      const email = kind === 'verification' ? anAddress() : (await aPerson(api)).email;
      let password = PASSWORD;
      if (kind === 'verification') {
        await api.visitor().trpc.auth.signUp.mutate({ email, password });
        await exhaust(api, email);
        await browser.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, /^Verify/), password });
      } else if (kind === 'reset') {
        await exhaust(api, email);
        await browser.trpc.auth.forgotPassword.mutate({ email });
        password = OTHER_PASSWORD;
        await browser.trpc.auth.resetPassword.mutate({ token: await tokenTo(api, email, /^Reset/), password });
      } else {
        await exhaust(api, email);
        await browser.trpc.auth.signInWithLink.mutate({ token: await aLink(api, email) });
      }
      browser.cookies.delete('roster_session_3000');

      expect(await codeOf(signIn(browser, email, password))).toBe('ok');
      expect(await codeOf(signIn(api.visitor(), email, password))).toBe('rate_limited');
    },
  );

  test('to a sign-up in its browser, whatever attackers guess', async ({ api }) => {
    const email = anAddress();
    const visitor = api.visitor();
    await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
    await exhaust(api, email);

    expect(await codeOf(signIn(visitor, email))).toBe('ok');
  });

  test('to request a link from a known browser, although its client address has requested too many', async () => {
    const api = await startApi({ SIGN_IN_ADDRESS_LIMIT: '2' });
    try {
      const { email, visitor } = await aSignedIn(api);
      for (let i = 0; i < 2; i += 1) await api.visitor().trpc.auth.emailSignInLink.mutate({ email: anAddress() });

      expect(await codeOf(api.visitor().trpc.auth.emailSignInLink.mutate({ email }))).toBe('rate_limited');
      expect(await codeOf(visitor.trpc.auth.emailSignInLink.mutate({ email }))).toBe('ok');
    } finally {
      await api.close();
    }
  });
});

describe('an account whose email address is not verified', () => {
  test('gets no passkey, key or team by its session; keys of the operator work', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api, { isVerified: false });
    const key = await api.anApiKey({ id }, { scopes: ['profile:read', 'api-keys:write'] });

    for (const call of [
      () => visitor.trpc.passkeys.registrationOptions.mutate(),
      () => visitor.trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] }),
      () => visitor.trpc.createTeam.mutate({ name: 'Mine' }),
    ]) {
      expect(await codeOf(call())).toBe('email_not_verified');
    }
    const create = () => api.as(key).post('/api/v1/api-keys', { name: 'A key', scopes: ['profile:read'] });
    expect(await create()).toBeProblem('email_not_verified');
    await api.rows(`update account set created_by = 'operator' where id = $1`, [id]);
    expect((await create()).status).toBe(201);
    expect((await api.as(key).get('/api/v1/me')).status).toBe(200);
  });
});

test('the deletion of an account deletes the sign-ups with its address', async ({ api }) => {
  const { email, visitor } = await aSignedIn(api);
  await api.visitor().trpc.auth.signUp.mutate({ email: email.toUpperCase(), password: OTHER_PASSWORD });

  await visitor.trpc.account.delete.mutate();

  expect(await api.rows('select 1 from sign_up_attempt where lower(email) = $1', [email])).toEqual([]);
});
