import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { problemOf } from '../support/browser.ts';
import { allMailed, anAddress, aSignedIn, codeOf, OTHER_PASSWORD, PASSWORD, tokenTo } from './people.ts';

/** Resets the password of somebody with a passkey, two keys, of which one is a team's, and a connected app. */
async function aReset(api: Api) {
  const owner = await aSignedIn(api);
  const { trpc } = owner.visitor;
  const authenticator = createAuthenticator();
  const response = authenticator.create(await trpc.passkeys.registrationOptions.mutate());
  const passkey = await trpc.passkeys.register.mutate({ name: 'Laptop', response });
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: ['profile:read'] });
  const teamKey = await api.anApiKey(owner, { team });
  const grant = await api.aGrant(owner, { scopes: ['profile:read'] });
  await api.anApiKey(owner, { revoked: true });
  await api.anApiKey(await api.anAccount());
  for (const [i, [table, id]] of Object.entries([
    ['passkey', passkey.id],
    ['api_key', key.id],
    ['api_key', teamKey.id],
    ['oauth_grant', grant.id],
  ] as const)) {
    await api.rows(`update ${table} set created_at = now() - $2 * interval '1 day' where id = $1`, [
      id,
      10 - Number(i),
    ]);
  }
  await trpc.auth.forgotPassword.mutate({ email: owner.email });
  const token = await tokenTo(api, owner.email, /^Reset/);
  const visitor = api.visitor();
  const { access, revocationToken } = await visitor.trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
  return { ...owner, team, key, teamKey, grant, passkey, authenticator, visitor, access, revocationToken };
}

/** The notices of a sign-in from a new browser that have left. */
async function countNotices(api: Api, accountId: string): Promise<number> {
  await allMailed(api);
  return api.lines.filter((line) => line['kind'] === 'new_device' && line['accountId'] === accountId).length;
}

describe('a password reset', () => {
  test('lists what still gives access, newest first', async ({ api }) => {
    const { access, passkey, key, teamKey, grant } = await aReset(api);

    expect(access.map(({ kind, id }) => [kind, id])).toEqual([
      ['connected_app', grant.id],
      ['api_key', teamKey.id],
      ['api_key', key.id],
      ['passkey', passkey.id],
    ]);
    expect(access.at(-1)).toMatchObject({ name: 'Laptop', lastUsedAt: null });
  });

  test('leaves all of it working until it is revoked, all together', async ({ api }) => {
    const { id, email, visitor, revocationToken, key, teamKey, grant, team, authenticator } = await aReset(api);
    const signIn = async () => {
      const options = await visitor.trpc.passkeys.signInOptions.mutate();
      return codeOf(api.visitor().trpc.passkeys.signIn.mutate({ response: authenticator.get(options) }));
    };
    expect((await api.as(key).get('/api/v1/me')).status).toBe(200);
    expect((await api.as(grant).get('/api/v1/me')).status).toBe(200);
    expect(await signIn()).toBe('ok');

    expect(await visitor.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken })).toEqual({ success: true });

    expect(await api.as(key).get('/api/v1/me')).toBeProblem('credential_invalid');
    expect(await api.as(teamKey).get(`/api/v1/teams/${team.id}`)).toBeProblem('credential_invalid');
    expect(await api.as(grant).get('/api/v1/me')).toBeProblem('credential_invalid');
    expect(await signIn()).toBe('passkey_refused');
    await api.mailTo(email, /^All other access was revoked$/);
    const events = await api.rows<{ event: string }>(
      `select event from audit_event where account_id = $1 and details->>'reason' = 'password reset' order by event`,
      [id],
    );
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['api_key.revoked', 'oauth_grant.revoked', 'passkey.removed']),
    );
  });

  test('revokes also what a key or passkey has obtained since, and the same again when asked twice', async ({
    api,
  }) => {
    const { id, email, visitor, revocationToken, authenticator } = await aReset(api);
    const stranger = api.visitor();
    const options = await stranger.trpc.passkeys.signInOptions.mutate();
    await stranger.trpc.passkeys.signIn.mutate({ response: authenticator.get(options) });
    const rotating = await api.anApiKey({ id }, { scopes: ['profile:read', 'api-keys:write'] });
    const made = await api.as(rotating).post('/api/v1/api-keys', { name: 'Later', scopes: ['profile:read'] });
    const other = createAuthenticator();
    const response = other.create(await stranger.trpc.passkeys.registrationOptions.mutate());
    await stranger.trpc.passkeys.register.mutate({ name: 'Second', response });
    const newEmail = anAddress();
    await stranger.trpc.account.changeEmail.mutate({ newEmail });
    const changeToken = await tokenTo(api, newEmail, /./);

    const revoke = () => codeOf(visitor.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken }));
    expect(await Promise.all([revoke(), revoke()])).toEqual(['ok', 'ok']);

    expect(await api.as({ secret: made.body.secret as string }).get('/api/v1/me')).toBeProblem('credential_invalid');
    expect(await codeOf(stranger.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token: changeToken }))).toBe('link_invalid');
    expect(await api.rows('select 1 from passkey where account_id = $1', [id])).toEqual([]);
    expect(await codeOf(visitor.trpc.auth.signIn.mutate({ email, password: OTHER_PASSWORD }))).toBe('ok');
  });

  test('forgets all other browsers: a sign-in from them is notified, one from its own is not', async ({ api }) => {
    const { id, email, visitor: own } = await aReset(api);
    const former = api.visitor();
    await former.trpc.auth.signIn.mutate({ email, password: OTHER_PASSWORD });
    await former.trpc.auth.forgotPassword.mutate({ email });
    const links = () => api.mails.filter(({ to, subject }) => to === email && subject.startsWith('Reset'));
    await expect.poll(() => links().length).toBe(2);
    const token = await tokenTo(api, email, /^Reset/);
    await allMailed(api);
    await own.trpc.auth.resetPassword.mutate({ token, password: PASSWORD });

    await own.trpc.auth.signIn.mutate({ email, password: PASSWORD });
    expect(await countNotices(api, id)).toBe(1);
    await former.trpc.auth.signIn.mutate({ email, password: PASSWORD });

    expect(await countNotices(api, id)).toBe(2);
  });

  test('revokes also the browsers that became known since', async ({ api }) => {
    const { id, email, visitor: own, revocationToken } = await aReset(api);
    const other = api.visitor();
    await other.trpc.auth.signIn.mutate({ email, password: OTHER_PASSWORD });
    await own.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken });

    expect(await api.rows('select 1 from known_device where account_id = $1', [id])).toHaveLength(1);
    expect(await countNotices(api, id)).toBe(1);
    await own.trpc.auth.signIn.mutate({ email, password: OTHER_PASSWORD });
    expect(await countNotices(api, id)).toBe(1);
  });

  test('leaves the session of the browser that revokes', async ({ api }) => {
    const { email, visitor, revocationToken } = await aReset(api);
    await visitor.trpc.auth.signIn.mutate({ email, password: OTHER_PASSWORD });

    await visitor.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken });

    expect(await codeOf(visitor.trpc.getMe.query())).toBe('ok');
  });

  test('cannot be used to revoke with any other token', async ({ api }) => {
    const { key, visitor, revocationToken } = await aReset(api);
    const tampered = `${revocationToken.slice(0, -4)}AAAA`;
    const sealed = api.services.encryption.encrypt('rst_pr_other');
    for (const token of [tampered, sealed, '', 'x', revocationToken.slice(1)]) {
      const call = visitor.trpc.auth.revokeRemainingAccess.mutate({ token });
      expect(await problemOf(call)).toMatchObject({ code: 'link_invalid' });
    }
    await allMailed(api);
    expect((await api.as(key).get('/api/v1/me')).status).toBe(200);
  });
});

test('the token of a change of the password ends with the session that changed it, such as by a reset', async ({
  api,
}) => {
  const { email, visitor } = await aSignedIn(api);
  const newPassword = OTHER_PASSWORD;
  const { revocationToken } = await visitor.trpc.account.changePassword.mutate({ newPassword });
  const revoke = (by: typeof visitor) => codeOf(by.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken }));
  expect(await revoke(api.visitor())).toBe('link_invalid');
  expect(await revoke(visitor)).toBe('ok');

  const owner = api.visitor();
  await owner.trpc.auth.forgotPassword.mutate({ email });
  await owner.trpc.auth.resetPassword.mutate({ token: await tokenTo(api, email, /^Reset/), password: PASSWORD });
  await owner.trpc.auth.signIn.mutate({ email, password: PASSWORD });
  const key = await owner.trpc.createApiKey.mutate({ name: 'Anew', scopes: ['teams:read'] });

  expect(await revoke(visitor)).not.toBe('ok');
  expect(await codeOf(owner.trpc.getMe.query())).toBe('ok');
  expect((await api.as(key).get('/api/v1/teams')).status).toBe(200);
});
