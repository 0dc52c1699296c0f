import { afterEach, describe, expect, vi } from 'vitest';
import { aCode, exchange, refresh } from '../oauth/flow.ts';
import { test, type Api } from '../support/api.ts';
import { anInvitationWithLink, as } from '../trpc/console.ts';
import { anAddress, aPerson, codeOf, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from '../trpc/people.ts';

const MINUTE_MS = 60_000;

afterEach(() => void vi.useRealTimers());

/** Sets the clock of the service beside that of the database. Timers go on. */
const setClock = (minutes: number): void =>
  void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * MINUTE_MS, shouldAdvanceTime: false });

/** The number of rows that were created at another time than that of the database. */
const countOff = async (api: Api, table: string): Promise<number> =>
  (await api.rows(`select 1 from ${table} where abs(extract(epoch from created_at - now())) > 60`)).length;

/** The token of an email whose job does not wait until the clock of the database has caught up. */
async function inTime(api: Api, email: string, about: RegExp): Promise<string> {
  // Digests of notices wait for ten minutes anyway. A service whose clock is ahead has planned jobs of the schedule.
  const late = `run_at > now() + interval '1 minute' and not starts_with(coalesce(key, ''), 'notice_')
    and task_identifier in ('sendAccountMail', 'sendInvitation', 'sendRequestedLink')`;
  expect(await api.rows(`select key from graphile_worker.jobs where ${late}`)).toEqual([]);
  const token = await tokenTo(api, email, about);
  expect(await countOff(api, 'account_token')).toBe(0);
  return token;
}

/** Whether an instant is that many seconds from now, by the clock of the database. */
const isIn = async (api: Api, seconds: number, sql: string, values: readonly string[]): Promise<boolean> => {
  const text = `select abs(extract(epoch from found.at - now()) - ${seconds}) < 60 as is_near from (${sql}) found(at)`;
  const found = await api.rows<{ is_near: boolean }>(text, values);
  return found.length > 0 && found.every(({ is_near: isNear }) => isNear);
};

const DAY = 86_400;

// Guarantees that the clock of the database alone decides about sessions, proofs, codes, tokens, memberships and keys.
describe.for([10, -10])('a service whose clock is %s minutes ahead of the database', (minutes) => {
  test('signs in, with a proof of now', async ({ api }) => {
    const { email } = await aPerson(api);
    setClock(minutes);
    const visitor = api.visitor();
    await signIn(visitor, email);
    await visitor.trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] });
    expect(
      await api.rows(
        `select abs(extract(epoch from s.proven_at - now())) < 60 as is_proven_now,
           s.created_at = s.proven_at and (s.proofs ->> 'password')::timestamptz = s.proven_at as is_one_time
         from session s join account a on a.id = s.account_id where a.email = $1`,
        [email],
      ),
    ).toMatchObject([{ is_proven_now: true, is_one_time: true }]);
  });

  test('emails links at once, which work for as long as they say', async ({ api }) => {
    const { email } = await aPerson(api);
    setClock(minutes);
    const visitor = api.visitor();
    await visitor.trpc.auth.emailSignInLink.mutate({ email });
    await visitor.trpc.auth.signInWithLink.mutate({ token: await inTime(api, email, /sign-in link/) });
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    const token = await inTime(api, email, /^Reset/);
    await visitor.trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
    await signIn(api.visitor(), email, OTHER_PASSWORD);
  });

  test('verifies sign-ups', async ({ api }) => {
    setClock(minutes);
    const [visitor, email] = [api.visitor(), anAddress()];
    await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
    expect(await countOff(api, 'sign_up_attempt')).toBe(0);
    await visitor.trpc.auth.verifyEmail.mutate({ token: await inTime(api, email, /verify/i) });
    await signIn(api.visitor(), email);
  });

  test('offers passkeys', async ({ api }) => {
    setClock(minutes);
    await api.visitor().trpc.passkeys.signInOptions.mutate();
    expect(await countOff(api, 'passkey_challenge')).toBe(0);
  });

  test('exchanges codes and refreshes', async ({ api }) => {
    setClock(minutes);
    const given = await aCode(api);
    const answer = await exchange(api, given);
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    const again = await refresh(api, given.client, answer.body.refresh_token);
    expect(again.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect(
      await api.rows(
        `select 1 from oauth_grant where client_id = $1
           and abs(extract(epoch from expires_at - now() - interval '90 days')) > 60`,
        [given.client.id],
      ),
    ).toEqual([]);
  });

  test('gives a team back to who accepts an invitation after their membership expired, and only then', async ({
    api,
  }) => {
    const [owner, invited] = [await api.anAccount(), await api.anAccount()];
    const trpc = await as(api, invited);
    for (const [expiry, role] of [
      ['-5 minutes', 'member'],
      ['5 minutes', 'guest'],
    ] as const) {
      const team = await api.aTeam({ owner });
      await api.aMember(team, invited, { role: 'guest' });
      await api.rows('update membership set expires_at = now() + $3::interval where team_id = $1 and account_id = $2', [
        team.id,
        invited.id,
        expiry,
      ]);
      const { token } = await anInvitationWithLink(api, team, { email: invited.email, role: 'member' });
      setClock(minutes);
      await trpc.invitations.accept.mutate({ token });
      vi.useRealTimers();
      expect(
        await api.rows(
          `select role_id, expires_at is null as is_lasting from membership where team_id = $1 and account_id = $2`,
          [team.id, invited.id],
        ),
      ).toEqual([{ role_id: role, is_lasting: role === 'member' }]);
    }
  });

  test('activates and ends memberships by the time of the database', async ({ api }) => {
    const [owner, member] = [await api.anAccount(), await api.anAccount()];
    const { id: teamId } = await api.aTeam({ owner });
    await api.aMember({ id: teamId }, member, { role: 'guest' });
    const { members } = await as(api, owner);
    const expire = (by: string) =>
      api.rows('update membership set expires_at = now() + $2::interval where account_id = $1', [member.id, by]);
    const which = { teamId, accountId: member.id };
    const inMinutes = (by: number) => new Date(Date.now() + by * MINUTE_MS).toISOString();
    const [future, past] = [inMinutes(5), inMinutes(-5)];
    setClock(minutes);

    await expire('-5 minutes');
    expect(await members.activate.mutate(which)).toMatchObject({ isActive: true });
    expect(await api.rows('select expires_at from membership where account_id = $1', [member.id])).toEqual([
      { expires_at: null },
    ]);
    expect(await members.setExpiry.mutate({ ...which, expiresAt: future })).toMatchObject({ isActive: true });
    expect(await codeOf(members.setExpiry.mutate({ ...which, expiresAt: past }))).toBe('validation_failed');
  });

  test('invites and offers a team for as many days as it says', async ({ api }) => {
    const [owner, member] = [await api.anAccount(), await api.anAccount()];
    const { id: teamId } = await api.aTeam({ owner });
    await api.aMember({ id: teamId }, member);
    const [trpc, ofMember] = [await as(api, owner), await as(api, member)];
    setClock(minutes);

    await trpc.createTeamInvitation.mutate({ teamId, email: anAddress() });
    const days = api.services.config.invitationDays;
    expect(await isIn(api, days * DAY, 'select expires_at from invitation where team_id = $1', [teamId])).toBe(true);
    expect(await isIn(api, 0, 'select created_at from invitation where team_id = $1', [teamId])).toBe(true);
    await trpc.teams.offerOwnership.mutate({ teamId, accountId: member.id });
    const offer = 'select expires_at from ownership_transfer where team_id = $1';
    expect(await isIn(api, 7 * DAY, offer, [teamId])).toBe(true);
    await api.rows(`update ownership_transfer set expires_at = now() - interval '5 minutes' where team_id = $1`, [
      teamId,
    ]);
    expect(await codeOf(ofMember.teams.declineOwnership.mutate({ teamId }))).toBe('transfer_not_found');
  });

  test('creates, uses and rotates keys by the time of the database', async ({ api }) => {
    const account = await api.anAccount();
    const trpc = await as(api, account);
    const operator = api.as(await api.anOperatorKey());
    setClock(minutes);

    await api.rows(`update session set idle_expires_at = now() + interval '1 minute' where account_id = $1`, [
      account.id,
    ]);
    const { key, secret } = await trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'], expiresInDays: 3 });
    expect(await isIn(api, 3 * DAY, 'select expires_at from api_key where id = $1', [key.id])).toBe(true);
    expect((await api.as(secret).get('/api/v1/teams')).status).toBe(200);
    await api.usage.flush();
    expect(await isIn(api, -30, 'select last_used_at from api_key where id = $1', [key.id])).toBe(true);
    const idle = 'select idle_expires_at from session where account_id = $1';
    expect(await isIn(api, api.services.config.sessionIdleDays * DAY - 30, idle, [account.id])).toBe(true);
    await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 0 });
    expect((await api.as(secret).get('/api/v1/teams')).status).toBe(401);
    await api.rows(`update api_key set expires_at = now() - interval '5 minutes' where id = $1`, [key.id]);
    expect(await codeOf(trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 0 }))).toBe('api_key_not_found');

    const fields = { name: 'A key', scopes: ['teams:read', 'keys:write'], expiresInDays: 3 };
    const made = (await operator.post('/operator/v1/operator-keys', fields)).body as {
      key: { id: string };
      secret: string;
    };
    const end = 'select expires_at from operator_key where id = $1';
    expect(await isIn(api, 3 * DAY, end, [made.key.id])).toBe(true);
    const rotate = () => operator.post(`/operator/v1/operator-keys/${made.key.id}/rotate`, { overlapHours: 0 });
    await rotate();
    expect((await api.as(made.secret).get('/operator/v1/operator-keys')).status).toBe(401);
    await api.rows(`update operator_key set expires_at = now() - interval '5 minutes' where id = $1`, [made.key.id]);
    expect((await rotate()).status).toBe(404);
  });

  test('rotates the secrets of clients and webhook endpoints by the time of the database', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    setClock(minutes);

    const { client } = await trpc.oauthClients.create.mutate({
      name: 'A client',
      redirectUris: ['https://client.example/callback'],
      isNative: false,
      isConfidential: true,
    });
    await trpc.oauthClients.rotateSecret.mutate({ clientId: client.id, overlapHours: 1 });
    const former = 'select expires_at from oauth_client_secret where client_id = $1 and expires_at is not null';
    expect(await isIn(api, 3600, former, [client.id])).toBe(true);

    const { endpoint } = await trpc.webhooks.create.mutate({ teamId, url: 'https://example.com/hook', types: [] });
    const { endpointId } = endpoint;
    const rotated = await trpc.webhooks.rotateSecret.mutate({ teamId, endpointId, overlapHours: 1 });
    expect(rotated.endpoint.previousSecretExpiresAt).not.toBeNull();
    const overlap = 'select previous_expires_at from webhook_endpoint where id = $1';
    expect(await isIn(api, 3600, overlap, [endpointId])).toBe(true);
    await api.rows(`update webhook_endpoint set previous_expires_at = now() - interval '5 minutes' where id = $1`, [
      endpointId,
    ]);
    expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ previousSecretExpiresAt: null }]);
  });
});
