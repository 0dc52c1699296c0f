import { afterEach, describe, expect, vi } from 'vitest';
import { aCode, exchange, refresh } from '../oauth/flow.ts';
import { test, type Api } from '../support/api.ts';
import { anAddress, aPerson, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from '../trpc/people.ts';

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
  expect(await api.rows(`select 1 from graphile_worker.jobs where run_at > now() + interval '1 minute'`)).toEqual([]);
  const token = await tokenTo(api, email, about);
  expect(await countOff(api, 'account_token')).toBe(0);
  return token;
}

// Guarantees that the clock of the database alone decides about sessions, proofs, codes and tokens.
describe.for([2, -2])('a service whose clock is %s minutes ahead of the database', (minutes) => {
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
});
