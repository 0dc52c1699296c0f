import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { anAddress, aPerson, aService, aSignedIn, codeOf, OTHER_PASSWORD, PASSWORD, tokenTo } from './people.ts';

const RESET = /Reset/;

// Guarantees that the page of an emailed link can say that it is of no use before a form is filled.
describe('checking an emailed link', () => {
  test('says whether it can be used, any number of times, and does not use it', async ({ api }) => {
    const { email } = await aPerson(api);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, RESET);
    const { auth } = api.visitor().trpc;
    const check = () => auth.checkLink.mutate({ purpose: 'reset_password', token });

    for (let times = 0; times < 5; times += 1) expect(await check()).toEqual({ isUsable: true });
    await auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
    expect(await check()).toEqual({ isUsable: false });
  });

  test('answers for a link that was never issued, is of another purpose, has expired or is of a disabled account alike', async ({
    api,
  }) => {
    const { id, email } = await aPerson(api);
    const visitor = await signedIn(api, { id });
    const newEmail = `new-${crypto.randomUUID()}@example.com`;
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    const change = await tokenTo(api, newEmail, /^Confirm/);
    const reset = await tokenTo(api, email, RESET);
    const answers = (purpose: 'reset_password' | 'change_email', ...tokens: string[]) =>
      Promise.all(tokens.map((token) => api.visitor().trpc.auth.checkLink.mutate({ purpose, token })));

    expect(await answers('change_email', change)).toEqual([{ isUsable: true }]);
    expect(await answers('reset_password', reset)).toEqual([{ isUsable: true }]);
    expect(
      await answers('reset_password', '', 'wrong', `${reset.slice(0, -1)}${reset.endsWith('x') ? 'y' : 'x'}`, change),
    ).toEqual(Array.from({ length: 4 }, () => ({ isUsable: false })));
    expect(await answers('change_email', reset)).toEqual([{ isUsable: false }]);

    await api.rows('update account set disabled_at = now() where id = $1', [id]);
    expect(await answers('reset_password', reset)).toEqual([{ isUsable: false }]);
    expect(await answers('change_email', change)).toEqual([{ isUsable: false }]);
    await api.rows('update account set disabled_at = null where id = $1', [id]);
    await api.rows(`update account_token set expires_at = now() - interval '1 s' where account_id = $1`, [id]);
    expect(await answers('reset_password', reset)).toEqual([{ isUsable: false }]);
  });

  // Guarantees what docs/accounts.md says: a valid link is never throttled.
  test('that is valid works although others at the client address have tried too many', async () => {
    const api = await aService({ SIGN_IN_ADDRESS_LIMIT: '2' });
    const { id, email } = await aPerson(api);
    const { trpc } = await signedIn(api, { id });
    const newEmail = anAddress();
    await trpc.account.changeEmail.mutate({ newEmail });
    const change = await tokenTo(api, newEmail, /^Confirm/);
    const inviter = await aPerson(api);
    const inviting = (await signedIn(api, inviter)).trpc.invitations;
    const invite = async (to: string) => {
      const team = await api.aTeam({ owner: inviter });
      const { link } = await inviting.create.mutate({ teamId: team.id, email: to, roleId: 'member' });
      return { token: new URL(link).searchParams.get('token') ?? '' };
    };
    const [declined, accepted] = [await invite(email), await invite(newEmail)];

    const { auth, invitations } = api.visitor().trpc;
    const guesses = Array.from({ length: 3 }, () =>
      auth.checkLink.mutate({ purpose: 'reset_password', token: 'wrong' }),
    );
    expect((await Promise.all(guesses.map(codeOf))).toSorted()).toEqual(['ok', 'ok', 'rate_limited']);
    expect(await codeOf(invitations.read.mutate({ token: 'wrong' }))).toBe('rate_limited');

    expect(await codeOf(invitations.read.mutate(declined))).toBe('ok');
    expect(await codeOf(invitations.decline.mutate(declined))).toBe('ok');
    expect(await codeOf(trpc.account.confirmEmailChange.mutate({ token: change }))).toBe('ok');
    expect(await codeOf(trpc.invitations.accept.mutate(accepted))).toBe('ok');
    expect(await codeOf(api.visitor().trpc.account.confirmEmailChange.mutate({ token: change }))).toBe('rate_limited');
  });
});

// Guarantees that a link which was followed twice gives no wrong advice.
describe('a used verification link', () => {
  test('is told as such in a session whose address is verified, counts against nothing, and is invalid elsewhere', async () => {
    const api = await aService({ SIGN_IN_ADDRESS_LIMIT: '2' });
    const visitor = api.visitor();
    const email = anAddress();
    await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
    const token = await tokenTo(api, email, /^Verify/);
    const read = ({ trpc } = visitor) => trpc.auth.readVerification.mutate({ token });
    expect(await read()).toEqual({ email, needsPassword: false });
    await visitor.trpc.auth.verifyEmail.mutate({ token });

    for (let times = 0; times < 4; times += 1)
      expect(await read()).toEqual({ email, needsPassword: false, isVerified: true });
    const { auth } = visitor.trpc;
    expect(await codeOf(auth.readVerification.mutate({ token: 'wrong' }))).toBe('link_invalid');
    expect(await codeOf(read(api.visitor()))).toBe('link_invalid');
    const { visitor: unverified } = await aSignedIn(api, { isVerified: false });
    expect(await codeOf(read(unverified))).toBe('rate_limited');
  });
});

// Guarantees the same of the link that changes the address.
describe('a used link of a change of address', () => {
  test('is told as such in a session of its account, counts against nothing, and is invalid elsewhere', async () => {
    const api = await aService({ SIGN_IN_ADDRESS_LIMIT: '4' });
    const { id, visitor } = await aSignedIn(api);
    const newEmail = anAddress();
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    const token = await tokenTo(api, newEmail, /^Confirm/);
    const check = ({ trpc } = visitor) => trpc.auth.checkLink.mutate({ purpose: 'change_email', token });
    const confirm = ({ trpc } = visitor) => trpc.account.confirmEmailChange.mutate({ token });
    expect(await check()).toEqual({ isUsable: true });
    await Promise.all([confirm(), confirm()]);
    const eventsOf = () => api.rows(`select id from audit_event where event = 'account.email_changed'`);
    expect(await eventsOf()).toHaveLength(1);

    for (let times = 0; times < 6; times += 1) {
      expect(await check()).toEqual({ isUsable: false, verified: newEmail });
      expect(await confirm()).toEqual({ success: true });
    }
    expect(await eventsOf()).toHaveLength(1);
    const [stranger, nobody] = [await aSignedIn(api), api.visitor()];
    for (const other of [stranger.visitor, nobody]) {
      expect(await check(other)).toEqual({ isUsable: false });
      expect(await codeOf(confirm(other))).toBe('link_invalid');
    }
    expect(await codeOf(check(nobody))).toBe('rate_limited');
    expect(await check()).toEqual({ isUsable: false, verified: newEmail });
    // It has changed the address once, whatever becomes of that.
    await api.rows('update account set email = $2 where id = $1', [id, anAddress()]);
    expect(await codeOf(confirm())).toBe('rate_limited');
    expect(await eventsOf()).toHaveLength(1);
  });
});
