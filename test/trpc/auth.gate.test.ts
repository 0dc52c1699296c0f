import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { tokenIn } from '../support/mailbox.ts';
import {
  accountAt,
  aPerson,
  aService,
  aSignedIn,
  allMailed,
  anAddress,
  codeOf,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  tokenTo,
} from './people.ts';

const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

const VERIFY = /^Verify your email address$/;
const RESET = /^Reset your password$/;

describe('the way in', () => {
  test('leads from sign-up over the email to a session, which another one can revoke', async ({ api }) => {
    const email = anAddress();
    const laptop = api.visitor();
    const phone = api.visitor({ userAgent: CHROME });

    expect(await laptop.trpc.auth.policy.query()).toEqual({ signup: 'open' });
    expect(
      await laptop.trpc.auth.signUp.mutate({ email, password: PASSWORD, firstName: 'Ada', lastName: 'Lovelace' }),
    ).toEqual({ signedIn: false });
    const mail = await api.mailTo(email, VERIFY);
    expect(mail.text).toContain(`http://localhost:3000/verify-email?token=${tokenIn(mail)}`);
    expect(await laptop.trpc.auth.verifyEmail.mutate({ token: tokenIn(mail) })).toEqual({ success: true });
    await laptop.trpc.auth.signOut.mutate();

    expect(await signIn(laptop, email)).toEqual({ success: true });
    await signIn(phone, email);
    expect(await laptop.trpc.getMe.query()).toMatchObject({
      email,
      firstName: 'Ada',
      lastName: 'Lovelace',
      role: 'user',
    });
    expect((await laptop.trpc.getMe.query()).emailVerified).not.toBeNull();
    const sessions = await laptop.trpc.listMySessions.query();
    expect(sessions).toMatchObject([
      {
        browser: 'Chrome',
        os: 'macOS',
        deviceType: 'desktop',
        isCurrentSession: false,
        authenticationType: 'password',
      },
      { browser: 'Firefox', os: 'Linux', isCurrentSession: true, authenticationType: 'password' },
    ]);

    await laptop.trpc.revokeMySession.mutate({ sessionId: sessions[0]?.id ?? '' });
    expect(await codeOf(phone.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(laptop.trpc.getMe.query())).toBe('ok');

    expect(await laptop.trpc.auth.signOut.mutate()).toEqual({ success: true });
    expect(laptop.cookies.has('roster_session_3000')).toBe(false);
    expect(await codeOf(laptop.trpc.getMe.query())).toBe('credential_missing');
    expect(await laptop.trpc.auth.signOut.mutate()).toEqual({ success: true });
  });

  // Guarantees that a token which was fixed or stolen before does not become a signed-in one.
  test('gives a new token at every sign-in, and ends the session that the browser had', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    const before = visitor.cookies.get('roster_session_3000') ?? '';

    await signIn(visitor, email);

    expect(visitor.cookies.get('roster_session_3000')).not.toBe(before);
    const thief = api.visitor();
    thief.cookies.set('roster_session_3000', before);
    expect(await codeOf(thief.trpc.getMe.query())).toBe('credential_invalid');
  });

  test('notifies the owner of a browser that is new to the account, and of no other', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    await visitor.trpc.auth.signOut.mutate();
    await signIn(visitor, email);
    await allMailed(api);
    expect(api.mails.filter(({ to }) => to === email)).toEqual([]);

    await signIn(api.visitor({ userAgent: CHROME }), email);

    expect((await api.mailTo(email, /new browser/)).text).toContain(
      'Browser: “Chrome”, system: “macOS”, location: unknown.',
    );
  });

  // A first browser can be that of somebody who found out the password of an account that was imported.
  test('notifies the owner of the first browser too, unless a link by email signed it in', async ({ api }) => {
    const [found, own] = [await aPerson(api), await aPerson(api)];
    const told = ({ email }: { email: string }) =>
      api.mails.filter(({ to, subject }) => to === email && /new browser/.test(subject)).length;
    await signIn(api.visitor(), found.email);
    const visitor = api.visitor();
    await visitor.trpc.auth.emailSignInLink.mutate({ email: own.email });
    await visitor.trpc.auth.signInWithLink.mutate({ token: await tokenTo(api, own.email, /sign-in link/) });
    await allMailed(api);
    expect([told(found), told(own)]).toEqual([1, 0]);

    // Browsers that were not seen for long are cleaned up.
    await api.rows('delete from known_device where account_id = $1', [own.id]);
    await signIn(api.visitor(), own.email);
    await allMailed(api);
    expect(told(own)).toBe(1);
  });

  test('takes addresses whatever their case, and keeps the spelling', async ({ api }) => {
    const email = anAddress().replace('p-', 'Pat-');
    const visitor = api.visitor();
    await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
    await visitor.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, VERIFY) });

    await signIn(visitor, email.toUpperCase());

    expect((await visitor.trpc.getMe.query()).email).toBe(email);
  });

  test('is open to an unverified account, which holds no team', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api, { isVerified: false });
    const key = await api.anApiKey({ id }, { scopes: ['teams:write'] });

    expect(await codeOf(visitor.trpc.createTeam.mutate({ name: 'Mine' }))).toBe('email_not_verified');
    expect(await api.as(key).post('/api/v1/teams', { name: 'Mine' })).toBeProblem('email_not_verified');
    expect(await visitor.trpc.listTeams.query()).toEqual([]);
  });
});

describe('a password', () => {
  test.for([
    ['7 chars', { code: 'min_length', params: { min: 8 } }],
    ['🏔'.repeat(7), { code: 'min_length', params: { min: 8 } }],
    ['x'.repeat(129), { code: 'max_length', params: { max: 128 } }],
    ['password1', { code: 'invalid_value' }],
    ['Baseball', { code: 'invalid_value' }],
    ['１２３４５６７８', { code: 'invalid_value' }],
  ] as const)('is refused: %s', async ([password, entry], { api }) => {
    const email = anAddress();

    const problem = await problemOf(api.visitor().trpc.auth.signUp.mutate({ email, password }));

    expect(problem).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/password', ...entry }],
    });
    expect(await accountAt(api, email)).toBeUndefined();
  });

  test('is not the address of its account', async ({ api }) => {
    const email = anAddress();
    for (const password of [email, email.toUpperCase(), email.split('@')[0] ?? '']) {
      const problem = await problemOf(api.visitor().trpc.auth.signUp.mutate({ email, password }));
      expect(problem.errors).toEqual([{ in: 'body', pointer: '/password', code: 'invalid_value' }]);
    }
  });

  // Guarantees that there are no rules of composition, which make passwords worse.
  test.for(['🏔'.repeat(8), 'only small letters', 'x'.repeat(128), '        '])(
    'is taken: %s',
    async (password, { api }) => {
      expect(await api.visitor().trpc.auth.signUp.mutate({ email: anAddress(), password })).toEqual({
        signedIn: false,
      });
    },
  );

  test('is hashed again at the next sign-in once the cost has been raised', async () => {
    const api = await aService({ PASSWORD_PASSES: '3' });
    const { email } = await aPerson(api);

    await signIn(api.visitor(), email);

    expect((await accountAt(api, email))?.['password_hash']).toMatch(/^\$argon2id\$v=19\$m=19456,t=3,p=1\$/);
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });
});

describe('sign-up', () => {
  test('informs the mailbox of a verified account that it has one, and changes nothing', async ({ api }) => {
    const { email } = await aPerson(api);
    const before = await accountAt(api, email);

    expect(
      await api
        .visitor()
        .trpc.auth.signUp.mutate({ email: email.toUpperCase(), password: OTHER_PASSWORD, firstName: 'Eve' }),
    ).toEqual({
      signedIn: false,
    });

    expect((await api.mailTo(email, /already/)).text).not.toContain('token=');
    expect(await accountAt(api, email)).toEqual(before);
  });

  test('changes nothing beyond its own members', async ({ api }) => {
    const email = anAddress();
    const other = await aPerson(api);
    const team = await api.aTeam({ owner: other });
    const more = {
      role: 'admin',
      emailVerified: new Date().toISOString(),
      email_verified_at: 'now',
      accountId: other.id,
      teamId: team.id,
      id: other.id,
    };
    const visitor = api.visitor();

    await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD, ...more } as never); // what the types would refuse
    await visitor.trpc.auth.signIn.mutate({ email, password: PASSWORD, ...more } as never);

    const me = await visitor.trpc.getMe.query();
    expect(me).toMatchObject({ email, role: 'user', emailVerified: null });
    expect(me.id).not.toBe(other.id);
    await visitor.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, VERIFY), ...more } as never);
    expect(await visitor.trpc.getMe.query()).toMatchObject({ id: me.id, email, role: 'user' });
    expect(await visitor.trpc.listTeams.query()).toEqual([]);
  });

  test('is denied if it is closed, whatever invitation exists', async () => {
    const api = await aService({ SIGNUP: 'closed' });
    const visitor = api.visitor();

    expect(await visitor.trpc.auth.policy.query()).toEqual({ signup: 'closed' });
    for (const more of [{}, { invitationToken: api.services.tokens.generate('invitation').secret }]) {
      expect(await codeOf(visitor.trpc.auth.signUp.mutate({ email: anAddress(), password: PASSWORD, ...more }))).toBe(
        'sign_up_closed',
      );
    }
    expect(await api.rows('select 1 from account')).toEqual([]);
  });

  test('links in emails come from BASE_URL, whatever Host the request names', async ({ api }) => {
    const email = anAddress();
    const forged = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    };
    const sameOrigin = { origin: 'http://localhost:3000', 'content-type': 'application/json', ...forged };
    const answer = await api.anonymous.send({
      method: 'POST',
      path: '/trpc/auth.signUp',
      headers: sameOrigin,
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    expect(answer.status).toBe(200);

    const { text, html } = await api.mailTo(email, VERIFY);

    expect(text + html).not.toContain('evil.example');
    expect(
      [...(text + html).matchAll(/https?:\/\/[^\s"<]+/g)].every(([url]) => url.startsWith('http://localhost:3000')),
    ).toBe(true);
  });
});

describe('sign-up by an invitation', () => {
  async function anInvited(api: Parameters<typeof aPerson>[0], email = anAddress()) {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['invites:write', 'members:read'] });
    expect((await api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email })).status).toBe(201);
    return { email, team, key, invitationToken: await tokenTo(api, email, /^Invitation/) };
  }

  test('creates a verified account that is a member and signed in, also if sign-up requires an invitation', async () => {
    const api = await aService({ SIGNUP: 'invited' });
    const { email, team, invitationToken } = await anInvited(api);
    const visitor = api.visitor();

    expect(await codeOf(visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD }))).toBe('sign_up_closed');
    expect(
      await visitor.trpc.auth.signUp.mutate({ email: email.toUpperCase(), password: PASSWORD, invitationToken }),
    ).toEqual({ signedIn: true });

    const me = await visitor.trpc.getMe.query();
    expect(me).toMatchObject({ email, emailVerified: expect.any(String) as string });
    expect(await visitor.trpc.listTeams.query()).toMatchObject([{ id: team.id, role: { id: 'member' } }]);
    expect(await visitor.trpc.listMySessions.query()).toMatchObject([
      { authenticationType: 'invitation', isCurrentSession: true },
    ]);
    expect(
      await codeOf(api.visitor().trpc.auth.signUp.mutate({ email, password: OTHER_PASSWORD, invitationToken })),
    ).toBe('link_invalid');
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });

  test('needs a link that works and the invited address', async ({ api }) => {
    const { invitationToken, key, team } = await anInvited(api);
    const signUp = (email: string, token: string) =>
      codeOf(api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken: token }));
    const email = anAddress();

    expect(await signUp(email, invitationToken)).toBe('invitation_for_another');
    for (const token of ['', 'nonsense', api.services.tokens.generate('invitation').secret, `${invitationToken}x`]) {
      expect(await signUp(email, token)).toBe('link_invalid');
    }
    expect(await accountAt(api, email)).toBeUndefined();
    expect((await api.as(key).get(`/api/v1/teams/${team.id}/members`)).body).toHaveLength(1);
  });

  test('is rejected for a verified account, and reclaims an unverified one', async ({ api }) => {
    const verified = await anInvited(api, (await aPerson(api)).email);
    const prepared = await aSignedIn(api, { isVerified: false });
    const grant = await api.aGrant(prepared);
    const unverified = await anInvited(api, prepared.email);
    const signUp = ({ email, invitationToken }: typeof verified) =>
      codeOf(api.visitor().trpc.auth.signUp.mutate({ email, password: OTHER_PASSWORD, invitationToken }));

    expect(await signUp(verified)).toBe('account_exists');
    expect(await codeOf(signIn(api.visitor(), verified.email))).toBe('ok');
    expect(await signUp(unverified)).toBe('ok');

    expect(await api.as(grant).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect(await codeOf(prepared.visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), prepared.email))).toBe('sign_in_failed');
    expect(await codeOf(signIn(api.visitor(), prepared.email, OTHER_PASSWORD))).toBe('ok');
  });

  test('of eight concurrent calls with one link creates one account and one member', async ({ api }) => {
    const { email, team, key, invitationToken } = await anInvited(api);

    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        codeOf(api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken })),
      ),
    );

    expect(answers.filter((answer) => answer === 'ok')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'link_invalid')).toHaveLength(7);
    expect((await api.as(key).get(`/api/v1/teams/${team.id}/members`)).body).toHaveLength(2);
  });
});

describe('links', () => {
  test('verify once and within a day, and end the others of the account', async ({ api }) => {
    const { id, email } = await aPerson(api, { isVerified: false });
    const visitor = api.visitor();
    const verify = (token: string) => codeOf(visitor.trpc.auth.verifyEmail.mutate({ token, password: PASSWORD }));
    await visitor.trpc.auth.resendVerification.mutate({ email });
    const expired = await tokenTo(api, email, VERIFY);
    await api.rows(`update account_token set expires_at = expires_at - interval '24 hours' where account_id = $1`, [
      id,
    ]);
    expect(await verify(expired)).toBe('link_invalid');

    const tokens: string[] = [];
    for (let sent = 0; sent < 2; sent += 1) {
      await visitor.trpc.auth.resendVerification.mutate({ email });
      await allMailed(api);
      tokens.push(await tokenTo(api, email, VERIFY));
    }
    const [first = '', second = ''] = tokens;
    expect(first).not.toBe(second);
    expect(await verify(first)).toBe('ok');
    expect(await verify(first)).toBe('link_invalid');
    expect(await verify(second)).toBe('link_invalid');
    for (const token of [
      '',
      'nonsense',
      api.services.tokens.generate('emailVerification').secret,
      api.services.tokens.generate('session').secret,
    ]) {
      expect(await verify(token)).toBe('link_invalid');
    }
  });

  test('used eight times concurrently work once', async ({ api }) => {
    const { email } = await aPerson(api, { isVerified: false });
    await api.visitor().trpc.auth.resendVerification.mutate({ email });
    const verification = await tokenTo(api, email, VERIFY);
    const verified = await Promise.all(
      Array.from({ length: 8 }, () =>
        codeOf(api.visitor().trpc.auth.verifyEmail.mutate({ token: verification, password: PASSWORD })),
      ),
    );
    expect(verified.filter((answer) => answer === 'ok')).toHaveLength(1);

    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, RESET);
    const passwords = Array.from({ length: 8 }, (_, i) => `${OTHER_PASSWORD} ${i}`);
    const reset = await Promise.all(
      passwords.map((password) => codeOf(api.visitor().trpc.auth.resetPassword.mutate({ token, password }))),
    );
    expect(reset.filter((answer) => answer === 'ok')).toHaveLength(1);
    expect(await codeOf(signIn(api.visitor(), email, passwords[reset.indexOf('ok')]))).toBe('ok');
  });

  test('serve one purpose: a reset link does not verify, and a verification link does not reset', async ({ api }) => {
    const { email } = await aPerson(api, { isVerified: false });
    const visitor = api.visitor();
    await visitor.trpc.auth.resendVerification.mutate({ email });
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    const verification = await tokenTo(api, email, VERIFY);
    const reset = await tokenTo(api, email, RESET);

    expect(await codeOf(visitor.trpc.auth.verifyEmail.mutate({ token: reset }))).toBe('link_invalid');
    expect(await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token: verification }))).toBe('link_invalid');
    expect(
      await codeOf(visitor.trpc.auth.resetPassword.mutate({ token: verification, password: OTHER_PASSWORD })),
    ).toBe('link_invalid');
    expect((await accountAt(api, email))?.['email_verified_at']).toBeNull();
  });

  // Guarantees that an attacker who prepared an account for another mailbox loses access once it is proven.
  test('verifying ends the sessions of before, and signs in where the link was opened', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api, { isVerified: false });
    const other = api.visitor();
    await signIn(other, email);
    await visitor.trpc.auth.resendVerification.mutate({ email });

    await visitor.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, VERIFY) });

    expect(await codeOf(visitor.trpc.getMe.query())).toBe('ok');
    expect(await codeOf(other.trpc.getMe.query())).toBe('credential_invalid');
  });

  test('opened in the session of another user revokes that session', async ({ api }) => {
    const prepared = await aSignedIn(api, { isVerified: false });
    const owner = await aSignedIn(api);
    await owner.visitor.trpc.auth.resendVerification.mutate({ email: prepared.email });
    const token = await tokenTo(api, prepared.email, VERIFY);

    expect(await codeOf(owner.visitor.trpc.auth.verifyEmail.mutate({ token }))).toBe('password_required');
    await owner.visitor.trpc.auth.verifyEmail.mutate({ token, newPassword: OTHER_PASSWORD });

    expect(await codeOf(prepared.visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), prepared.email))).toBe('sign_in_failed');
    expect((await owner.visitor.trpc.getMe.query()).email).toBe(prepared.email);
  });
});

describe('resetting a password', () => {
  test('revokes all sessions and all other links, and notifies the owner', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    await visitor.trpc.account.changeEmail.mutate({ newEmail: `new-${email}` });
    const change = await tokenTo(api, `new-${email}`, /^Confirm/);
    const stranger = api.visitor();
    await stranger.trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, RESET);

    expect(await stranger.trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD })).toMatchObject({
      success: true,
      access: [],
    });

    expect(stranger.cookies.has('roster_session_3000')).toBe(false);
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(visitor, email))).toBe('sign_in_failed');
    expect(await codeOf(signIn(visitor, email, OTHER_PASSWORD))).toBe('ok');
    expect(await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token: change }))).toBe('link_invalid');
    await api.mailTo(email, /password was reset/);
  });

  test('works once and within an hour; a rejected password does not consume the link', async ({ api }) => {
    const { id, email } = await aPerson(api);
    const visitor = api.visitor();
    const reset = (token: string, password = OTHER_PASSWORD) =>
      problemOf(visitor.trpc.auth.resetPassword.mutate({ token, password }));
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    const first = await tokenTo(api, email, RESET);

    expect(await reset(first, 'password1')).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/password', code: 'invalid_value' }],
    });
    expect(await reset(first, email)).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/password', code: 'invalid_value' }],
    });
    await visitor.trpc.auth.resetPassword.mutate({ token: first, password: OTHER_PASSWORD });
    expect(await reset(first)).toMatchObject({ code: 'link_invalid', status: 404 });

    await visitor.trpc.auth.forgotPassword.mutate({ email });
    await allMailed(api);
    const second = await tokenTo(api, email, RESET);
    expect(second).not.toBe(first);
    await api.rows(`update account_token set expires_at = expires_at - interval '1 hour' where account_id = $1`, [id]);
    expect(await reset(second)).toMatchObject({ code: 'link_invalid' });
  });

  test('proves the mailbox, and revokes access that others obtained before', async ({ api }) => {
    const { id, email } = await aPerson(api, { isVerified: false });
    const key = await api.anApiKey({ id }, { scopes: ['profile:read'] });
    const visitor = api.visitor();
    await visitor.trpc.auth.forgotPassword.mutate({ email });

    await visitor.trpc.auth.resetPassword.mutate({ token: await tokenTo(api, email, RESET), password: OTHER_PASSWORD });

    expect((await accountAt(api, email))?.['email_verified_at']).not.toBeNull();
    expect(await api.as(key).get('/api/v1/me')).toBeProblem('credential_invalid');
    expect(await codeOf(signIn(visitor, email, OTHER_PASSWORD))).toBe('ok');
  });
});

describe('responses do not reveal accounts', () => {
  test('is the same for known, unknown, disabled and passwordless accounts at a sign-in', async ({ api }) => {
    const known = await aPerson(api);
    const disabled = await aPerson(api);
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.id]);
    const passwordless = await api.anAccount({ email: anAddress() });

    const problems = await Promise.all(
      [
        signIn(api.visitor(), known.email, OTHER_PASSWORD),
        signIn(api.visitor(), disabled.email),
        signIn(api.visitor(), passwordless.email),
        signIn(api.visitor(), anAddress()),
        signIn(api.visitor(), known.email, ''),
      ].map(problemOf),
    );

    const [first, ...others] = problems.map((problem) => ({ ...problem, requestId: null }));
    expect(first).toMatchObject({ code: 'sign_in_failed', status: 401 });
    for (const problem of others) expect(problem).toEqual(first);
  });

  test('is nothing from the answers to sign-up, resend and forgot', async ({ api }) => {
    const disabled = await aPerson(api);
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.id]);
    const emails = [
      (await aPerson(api)).email,
      (await aPerson(api, { isVerified: false })).email,
      disabled.email,
      anAddress(),
    ];
    const { trpc } = api.visitor();

    for (const email of emails) {
      expect(await trpc.auth.forgotPassword.mutate({ email })).toEqual({ success: true });
      expect(await trpc.auth.resendVerification.mutate({ email })).toEqual({ success: true });
      expect(await trpc.auth.signUp.mutate({ email, password: OTHER_PASSWORD })).toEqual({ signedIn: false });
    }
    await allMailed(api);
    expect(api.mails.filter(({ to }) => to === disabled.email)).toEqual([]);
    expect(
      api.mails
        .filter(({ to }) => to === emails[0])
        .map(({ subject }) => subject)
        .toSorted(),
    ).toEqual(['Reset your password', 'You already have an account']);
  });
});
