import { describe, expect } from 'vitest';
import { startApi, test, type Api } from '../support/api.ts';
import type { Visitor } from '../support/browser.ts';
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

const VERIFY = /^Verify your email address$/;

const signUp = (visitor: Visitor, email: string, password = PASSWORD, firstName?: string) =>
  visitor.trpc.auth.signUp.mutate({ email, password, ...(firstName !== undefined && { firstName }) });

const attempts = (api: Api, email: string) =>
  api.rows('select 1 from sign_up_attempt where lower(email) = lower($1)', [email]);

/** Signs up, and returns the token of the attempt's own link. */
async function linkOf(api: Api, visitor: Visitor, email: string, password: string, firstName?: string) {
  await signUp(visitor, email, password, firstName);
  await allMailed(api);
  return tokenTo(api, email, VERIFY);
}

describe('a sign-up', () => {
  test('is signed in in the browser that signed up; everything except its profile requires verification', async ({
    api,
  }) => {
    const email = anAddress();
    const visitor = api.visitor();
    expect(await signUp(visitor, email, PASSWORD, 'Ada')).toEqual({ signedIn: false });

    const { id, ...profile } = await visitor.trpc.getMe.query();
    expect(profile).toMatchObject({ email, firstName: 'Ada', lastName: null, role: 'user', emailVerified: null });
    expect(await visitor.trpc.auth.pendingSignUp.query()).toMatchObject({ email });
    for (const call of [
      () => visitor.trpc.createTeam.mutate({ name: 'Mine' }),
      () => visitor.trpc.listTeams.query(),
      () => visitor.trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] }),
      () => visitor.trpc.passkeys.registrationOptions.mutate(),
      () => visitor.trpc.updateMe.mutate({ firstName: 'Eve', lastName: 'Ev' }),
      () => visitor.trpc.listMySessions.query(),
    ]) {
      expect(await codeOf(call())).toBe('email_not_verified');
    }
    expect(await accountAt(api, email)).toBeUndefined();

    await visitor.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, VERIFY) });
    expect(await visitor.trpc.getMe.query()).toMatchObject({ id, firstName: 'Ada' });
    expect((await visitor.trpc.getMe.query()).emailVerified).not.toBeNull();
    expect(await visitor.trpc.auth.pendingSignUp.query()).toBeNull();
    expect((await visitor.trpc.createTeam.mutate({ name: 'Mine' })).name).toBe('Mine');
  });

  test('can have names of one character', async ({ api }) => {
    const visitor = api.visitor();
    const names = { firstName: '李', lastName: 'X' };
    await visitor.trpc.auth.signUp.mutate({ email: anAddress(), password: PASSWORD, ...names });
    expect(await visitor.trpc.getMe.query()).toMatchObject(names);
  });

  test('signs in again in the same browser, and in no other until its link was opened', async ({ api }) => {
    const email = anAddress();
    const [here, elsewhere] = [api.visitor(), api.visitor()];
    await signUp(here, email);
    await here.trpc.auth.signOut.mutate();
    expect(await codeOf(here.trpc.getMe.query())).toBe('credential_missing');

    expect(await codeOf(signIn(here, email, OTHER_PASSWORD))).toBe('sign_in_failed');
    expect(await codeOf(signIn(here, email))).toBe('ok');
    expect((await here.trpc.getMe.query()).emailVerified).toBeNull();
    expect(await codeOf(signIn(elsewhere, email))).toBe('sign_in_failed');
    expect(elsewhere.cookies.has('roster_session_3000')).toBe(false);
  });

  test('of before the operator closed it is unknown afterwards: its session, sign-in, links and emails', async () => {
    const open = await aService({});
    const email = anAddress();
    const visitor = open.visitor();
    const token = await linkOf(open, visitor, email, PASSWORD);

    const closed = await startApi({ SIGNUP: 'closed' }, open);
    try {
      const returning = closed.visitor();
      for (const [name, value] of visitor.cookies) returning.cookies.set(name, value);
      const { auth, getMe } = returning.trpc;
      expect(await codeOf(getMe.query())).toBe('credential_invalid');
      expect(await codeOf(signIn(returning, email))).toBe('sign_in_failed');
      expect(await codeOf(auth.readVerification.mutate({ token }))).toBe('link_invalid');
      for (const more of [{}, { password: PASSWORD }, { newPassword: OTHER_PASSWORD }])
        expect(await codeOf(auth.verifyEmail.mutate({ token, ...more }))).toBe('link_invalid');
      expect(await codeOf(auth.resendVerification.mutate({ email }))).toBe('ok');
      await allMailed(open);
      expect(open.mails.filter(({ to }) => to === email)).toHaveLength(1);
      expect(await attempts(closed, email)).toEqual([]);
      expect(await accountAt(closed, email)).toBeUndefined();
    } finally {
      await closed.close();
    }
  });

  test('signs out for good: a copied cookie is of no use afterwards', async ({ api }) => {
    const visitor = api.visitor();
    await signUp(visitor, anAddress());
    const thief = api.visitor();
    thief.cookies.set('roster_session_3000', visitor.cookies.get('roster_session_3000') ?? '');
    expect(await codeOf(thief.trpc.getMe.query())).toBe('ok');

    await visitor.trpc.auth.signOut.mutate();

    expect(await codeOf(thief.trpc.getMe.query())).toBe('credential_invalid');
  });

  test('becomes the account elsewhere with its password, or with a new one', async ({ api }) => {
    const email = anAddress();
    const token = await linkOf(api, api.visitor(), email, PASSWORD, 'Ada');
    const { trpc } = api.visitor();

    expect(await trpc.auth.readVerification.mutate({ token })).toEqual({ email, needsPassword: true });
    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token }))).toBe('password_required');
    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token, password: OTHER_PASSWORD }))).toBe('password_wrong');
    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token, newPassword: 'password1' }))).toBe('validation_failed');
    expect(await accountAt(api, email)).toBeUndefined();
    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token, password: PASSWORD }))).toBe('ok');
    expect(await trpc.getMe.query()).toMatchObject({ email, firstName: 'Ada' });

    const other = anAddress();
    const second = await linkOf(api, api.visitor(), other, PASSWORD, 'Mallory');
    const owner = api.visitor();
    await owner.trpc.auth.verifyEmail.mutate({ token: second, newPassword: OTHER_PASSWORD });
    expect(await owner.trpc.getMe.query()).toMatchObject({ email: other, firstName: null });
    expect(await codeOf(signIn(api.visitor(), other))).toBe('sign_in_failed');
    expect(await codeOf(signIn(api.visitor(), other, OTHER_PASSWORD))).toBe('ok');
  });

  test('reading its link changes nothing, however often', async ({ api }) => {
    const email = anAddress();
    const visitor = api.visitor();
    const token = await linkOf(api, visitor, email, PASSWORD);

    for (let i = 0; i < 3; i += 1) {
      expect(await visitor.trpc.auth.readVerification.mutate({ token })).toEqual({ email, needsPassword: false });
    }
    expect(await accountAt(api, email)).toBeUndefined();
    expect(await codeOf(visitor.trpc.auth.verifyEmail.mutate({ token }))).toBe('ok');
    expect(await codeOf(api.visitor().trpc.auth.readVerification.mutate({ token }))).toBe('link_invalid');
    // Its user is told what is so.
    expect(await visitor.trpc.auth.readVerification.mutate({ token })).toMatchObject({ isVerified: true });
  });

  test('ends a day later', async ({ api }) => {
    const email = anAddress();
    const visitor = api.visitor();
    const token = await linkOf(api, visitor, email, PASSWORD);
    await api.rows(`update sign_up_attempt set expires_at = expires_at - interval '24 hours' where email = $1`, [
      email,
    ]);

    expect(await codeOf(visitor.trpc.auth.verifyEmail.mutate({ token }))).toBe('link_invalid');
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(visitor, email))).toBe('sign_in_failed');
  });

  test('sends its link again, also while the first one works', async ({ api }) => {
    const email = anAddress();
    const visitor = api.visitor();
    const first = await linkOf(api, visitor, email, PASSWORD, 'Ada');
    await visitor.trpc.auth.resendVerification.mutate({ email: email.toUpperCase() });
    await allMailed(api);
    const second = await tokenTo(api, email, VERIFY);
    expect(second).not.toBe(first);

    // Somebody else gets none sent.
    await api.visitor().trpc.auth.resendVerification.mutate({ email });
    await allMailed(api);
    expect(api.mails.filter(({ to }) => to === email)).toHaveLength(2);

    expect(await visitor.trpc.auth.readVerification.mutate({ token: first })).toEqual({ email, needsPassword: false });
    expect(await codeOf(visitor.trpc.auth.verifyEmail.mutate({ token: second }))).toBe('ok');
    expect(await codeOf(visitor.trpc.auth.verifyEmail.mutate({ token: first }))).toBe('link_invalid');
    expect((await visitor.trpc.getMe.query()).firstName).toBe('Ada');
  });

  test('of eight concurrent sign-ups creates no account, and of eight links opened concurrently one creates it', async ({
    api,
  }) => {
    const email = anAddress();
    const answers = await Promise.all(Array.from({ length: 8 }, () => codeOf(signUp(api.visitor(), email))));
    expect(answers).toEqual(Array.from({ length: 8 }, () => 'ok'));
    expect(await accountAt(api, email)).toBeUndefined();

    const token = await tokenTo(api, email, VERIFY);
    const verified = await Promise.all(
      Array.from({ length: 8 }, () =>
        codeOf(api.visitor().trpc.auth.verifyEmail.mutate({ token, newPassword: OTHER_PASSWORD })),
      ),
    );
    expect(verified.toSorted()).toEqual([...Array<string>(7).fill('link_invalid'), 'ok']);
    expect(await api.rows('select 1 from account where email = $1', [email])).toHaveLength(1);
    expect(await attempts(api, email)).toEqual([]);
  });

  test('of two for one email address whose links are opened concurrently, one becomes the account', async ({ api }) => {
    const email = anAddress();
    const [one, two] = [api.visitor(), api.visitor()];
    const first = await linkOf(api, one, email, PASSWORD);
    const second = await linkOf(api, two, email, OTHER_PASSWORD);

    const answers = await Promise.all([
      codeOf(one.trpc.auth.verifyEmail.mutate({ token: first })),
      codeOf(two.trpc.auth.verifyEmail.mutate({ token: second })),
    ]);

    expect(answers.toSorted()).toEqual(['link_invalid', 'ok']);
    const [winner, loser] = answers[0] === 'ok' ? [one, two] : [two, one];
    expect((await winner.trpc.getMe.query()).emailVerified).not.toBeNull();
    expect(await codeOf(loser.trpc.getMe.query())).toBe('credential_invalid');
  });

  // Guarantees that the table cannot be filled, and that the owner's mailbox contains valid links then.
  test('is kept as often in an hour as an address gets links', async ({ api }) => {
    const email = anAddress();
    for (let i = 0; i < 7; i += 1) expect(await signUp(api.visitor(), email)).toEqual({ signedIn: false });

    expect(await attempts(api, email)).toHaveLength(5);
    await allMailed(api);
    const newest = await tokenTo(api, email, VERIFY);
    expect(
      await codeOf(api.visitor().trpc.auth.verifyEmail.mutate({ token: newest, newPassword: OTHER_PASSWORD })),
    ).toBe('ok');
  });

  test('responds and signs in alike for an email address with an account; its owner is informed only by email', async ({
    api,
  }) => {
    const { email } = await aPerson(api);
    const before = await accountAt(api, email);
    const stranger = api.visitor();

    expect(await signUp(stranger, email.toUpperCase(), OTHER_PASSWORD, 'Eve')).toEqual({ signedIn: false });
    expect(await stranger.trpc.getMe.query()).toMatchObject({ firstName: 'Eve', emailVerified: null });
    expect(await codeOf(stranger.trpc.listTeams.query())).toBe('email_not_verified');
    await stranger.trpc.auth.signOut.mutate();
    expect(await codeOf(signIn(stranger, email, OTHER_PASSWORD))).toBe('ok');
    expect(await codeOf(stranger.trpc.listTeams.query())).toBe('email_not_verified');

    expect((await api.mailTo(email, /already/)).text).not.toContain('token=');
    expect(await accountAt(api, email)).toEqual(before);
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });

  test('leaves a browser that is signed in as it is', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);

    await signUp(visitor, anAddress());

    expect((await visitor.trpc.getMe.query()).email).toBe(email);
  });

  test('that holds the right password signs in to the account first', async ({ api }) => {
    const { email } = await aPerson(api);
    const visitor = api.visitor();
    await signUp(visitor, email, PASSWORD);

    await signIn(visitor, email);

    expect((await visitor.trpc.getMe.query()).emailVerified).not.toBeNull();
  });
});

describe('an attacker who signs up with the email address of another user', () => {
  // Guarantees the order attacker, owner: the owner's proof deletes the attacker's attempt.
  test('before the owner gets nothing', async ({ api }) => {
    const email = anAddress();
    const [stranger, owner] = [api.visitor(), api.visitor()];
    const strangersLink = await linkOf(api, stranger, email, OTHER_PASSWORD, 'Mallory');
    const strangersCookie = stranger.cookies.get('roster_session_3000') ?? '';
    const link = await linkOf(api, owner, email, PASSWORD, 'Olivia');

    expect((await stranger.trpc.getMe.query()).firstName).toBe('Mallory');
    await owner.trpc.auth.verifyEmail.mutate({ token: link });

    expect(await owner.trpc.getMe.query()).toMatchObject({ email, firstName: 'Olivia' });
    expect(await codeOf(stranger.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(stranger, email, OTHER_PASSWORD))).toBe('sign_in_failed');
    expect(await codeOf(signIn(api.visitor(), email, OTHER_PASSWORD))).toBe('sign_in_failed');
    expect(await codeOf(stranger.trpc.auth.verifyEmail.mutate({ token: strangersLink }))).toBe('link_invalid');
    stranger.cookies.set('roster_session_3000', strangersCookie);
    expect(await codeOf(stranger.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });

  // Guarantees the order owner, attacker: a later attempt does not change an earlier one.
  test('after the owner takes neither the password, nor the link, nor the session of the owner', async ({ api }) => {
    const email = anAddress();
    const [stranger, owner] = [api.visitor(), api.visitor()];
    const link = await linkOf(api, owner, email, PASSWORD, 'Olivia');
    await linkOf(api, stranger, email, OTHER_PASSWORD, 'Mallory');

    expect((await owner.trpc.getMe.query()).firstName).toBe('Olivia');
    expect(await codeOf(signIn(owner, email))).toBe('ok');
    expect(await codeOf(owner.trpc.auth.verifyEmail.mutate({ token: link }))).toBe('ok');

    expect(await codeOf(stranger.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(stranger, email, OTHER_PASSWORD))).toBe('sign_in_failed');
    await signUp(stranger, email, OTHER_PASSWORD);
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
    expect(await codeOf(owner.trpc.getMe.query())).toBe('ok');
  });

  // Guarantees that opening the attacker's link in good faith gives the attacker nothing.
  test('is signed out as well if the owner opens the link that the attacker caused', async ({ api }) => {
    const email = anAddress();
    const [stranger, owner] = [api.visitor(), api.visitor()];
    await linkOf(api, owner, email, PASSWORD, 'Olivia');
    const strangersLink = await linkOf(api, stranger, email, OTHER_PASSWORD, 'Mallory');

    expect(await codeOf(owner.trpc.auth.verifyEmail.mutate({ token: strangersLink }))).toBe('password_required');
    expect(await codeOf(owner.trpc.auth.verifyEmail.mutate({ token: strangersLink, password: PASSWORD }))).toBe(
      'password_wrong',
    );
    await owner.trpc.auth.verifyEmail.mutate({ token: strangersLink, newPassword: PASSWORD });

    expect(await owner.trpc.getMe.query()).toMatchObject({ email, firstName: null });
    expect(await codeOf(stranger.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(stranger, email, OTHER_PASSWORD))).toBe('sign_in_failed');
  });

  // Guarantees the same for accounts of the version that had no attempts: they were unverified accounts.
  test('in the version before: password, names, session, key and passkey end with the proof', async ({ api }) => {
    const stranger = await aSignedIn(api, { isVerified: false });
    const key = await api.anApiKey(stranger, { scopes: ['profile:read'] });
    await api.rows(
      `insert into passkey (id, account_id, name, credential_id, public_key, counter, transports, created_at) values ('psk_' || $1, $1, 'x', $1, 'x', 0, '{}', now())`,
      [stranger.id],
    );
    const owner = api.visitor();
    const link = await linkOf(api, owner, stranger.email, OTHER_PASSWORD, 'Olivia');
    expect(await codeOf(stranger.visitor.trpc.getMe.query())).toBe('ok');

    await owner.trpc.auth.verifyEmail.mutate({ token: link });

    expect(await owner.trpc.getMe.query()).toMatchObject({ id: stranger.id, firstName: 'Olivia', lastName: null });
    expect(await codeOf(stranger.visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), stranger.email))).toBe('sign_in_failed');
    expect(await api.as(key).get('/api/v1/me')).toBeProblem('credential_invalid');
    expect(await api.rows('select 1 from passkey where account_id = $1', [stranger.id])).toEqual([]);
  });

  // Guarantees that an account which the operator made stays what it is until its mailbox is proven, and keeps its keys.
  test('leaves an account of the operator unchanged, whose keys stay valid', async ({ api }) => {
    const made = await aPerson(api, { isVerified: false });
    await api.rows(`update account set created_by = 'operator' where id = $1`, [made.id]);
    const { id: teamId } = await api.aTeam({ owner: made });
    const key = await api.anApiKey(made, { scopes: ['profile:read'] });
    const stranger = api.visitor();
    const link = await linkOf(api, stranger, made.email, OTHER_PASSWORD);

    expect(await codeOf(signIn(api.visitor(), made.email, OTHER_PASSWORD))).toBe('sign_in_failed');
    expect(await codeOf(signIn(api.visitor(), made.email))).toBe('ok');
    expect(await codeOf(stranger.trpc.listTeams.query())).toBe('email_not_verified');

    const owner = api.visitor();
    await owner.trpc.auth.verifyEmail.mutate({ token: link, newPassword: 'a third password 9' });
    expect(await owner.trpc.listTeams.query()).toMatchObject([{ id: teamId }]);
    expect((await api.as(key).get('/api/v1/me')).status).toBe(200);
    expect(await codeOf(signIn(api.visitor(), made.email))).toBe('sign_in_failed');
  });
});

test('a sign-up is no way to guess the password of an account without being counted', async () => {
  const api = await aService({ SIGN_IN_LIMIT: '3' });
  const { email } = await aPerson(api);
  const stranger = api.visitor();

  // Each attempt's own password is one guess at the account, and none is refunded.
  const guesses: string[] = [];
  for (const password of ['first guess 12', 'second guess 12', 'third guess 12']) {
    await signUp(stranger, email, password);
    guesses.push(await codeOf(signIn(stranger, email, password)));
  }
  expect(guesses).toEqual(['ok', 'ok', 'ok']);
  expect(await codeOf(signIn(api.visitor(), email, PASSWORD))).toBe('rate_limited');
});
