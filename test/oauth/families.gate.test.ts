import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import { tokenIn } from '../support/mailbox.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import type { ALL_SCOPES } from '../rest/operations.ts';
import { aCode, aProofKey, askConsent, exchange, goodRequest, post, refresh, resume, someTokens } from './flow.ts';
import { isRevoked, outcome, scopesOf, works } from './token-endpoint.ts';

type Scope = (typeof ALL_SCOPES)[number];
const SCOPES: Scope[] = ['teams:read', 'api-keys:write'];

async function aPerson(api: Api) {
  const account = await api.anAccount();
  return { account, client: await api.anOAuthClient(), visitor: await signedIn(api, account) };
}

const grantsOf = (api: Api, { account }: { account: AnAccount }) =>
  api.rows<{ id: string; scopes: Scope[]; days: number }>(
    `select id, scopes, round(extract(epoch from expires_at - now()) / 86400)::int as days
     from oauth_grant where account_id = $1 and revoked_at is null`,
    [account.id],
  );

const aKey = async (api: Api, access: string): Promise<string> =>
  (await api.as(access).post('/api/v1/api-keys', { name: 'A key', scopes: ['teams:read'] })).body.secret;

describe('a second consent for the same client', () => {
  test('renews the one grant, sets its scopes and its end, and leaves the first device connected', async ({ api }) => {
    const person = await aPerson(api);
    const first = await someTokens(api, { ...person, scopes: ['teams:read'] });
    const [before] = await grantsOf(api, person);
    await api.rows(`update oauth_grant set expires_at = now() + interval '1 day' where id = $1`, [before?.id]);

    const second = await someTokens(api, { ...person, scopes: ['teams:read', 'members:read'] });

    expect(await grantsOf(api, person)).toEqual([{ id: before?.id, scopes: ['teams:read', 'members:read'], days: 90 }]);
    expect(await scopesOf(api, first.tokens.access)).toEqual(['teams:read']);
    expect(await scopesOf(api, second.tokens.access)).toEqual(['teams:read', 'members:read']);
    expect(await person.visitor.trpc.grants.list.query()).toHaveLength(1);
  });

  test('to less takes the rest from all tokens, and a third to more gives them nothing back', async ({ api }) => {
    const person = await aPerson(api);
    const first = await someTokens(api, { ...person, scopes: ['teams:read', 'members:read'] });
    await someTokens(api, { ...person, scopes: ['teams:read'] });
    expect(await scopesOf(api, first.tokens.access)).toEqual(['teams:read']);

    await someTokens(api, { ...person, scopes: ['teams:read', 'members:read'] });

    expect(await scopesOf(api, first.tokens.access)).toEqual(['teams:read']);
    const next = await refresh(api, person.client, first.tokens.refresh);
    expect([next.body.scope, await scopesOf(api, next.body.access_token)]).toEqual(['teams:read', ['teams:read']]);
  });

  test('restores nothing after the scopes of the grant were reduced, if its code is not exchanged yet', async ({
    api,
  }) => {
    const person = await aPerson(api);
    await someTokens(api, { ...person, scopes: SCOPES });
    const [grant] = await grantsOf(api, person);
    const pending = await aCode(api, { ...person, scopes: SCOPES });

    await person.visitor.trpc.grants.narrow.mutate({ grantId: grant?.id ?? '', scopes: ['teams:read'] });

    expect(outcome(await exchange(api, pending))).toBe('400 invalid_grant');
    expect((await grantsOf(api, person)).map(({ scopes }) => scopes)).toEqual([['teams:read']]);
  });

  test('whose code is not exchanged yet ends with a password reset', async ({ api }) => {
    const person = await aPerson(api);
    const pending = await aCode(api, { ...person, scopes: SCOPES });
    const { email } = person.account;
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const token = tokenIn(await api.mailTo(email, /^Reset/));

    await api.visitor().trpc.auth.resetPassword.mutate({ token, password: 'quiet lighthouse 7' });

    expect(outcome(await exchange(api, pending))).toBe('400 invalid_grant');
    expect(await grantsOf(api, person)).toEqual([]);
  });

  test('that is abandoned changes nothing, and is no connected app', async ({ api }) => {
    const person = await aPerson(api);
    await aCode(api, { ...person, scopes: ['teams:read'] });
    expect(await person.visitor.trpc.grants.list.query()).toEqual([]);
    await someTokens(api, { ...person, scopes: ['teams:read'] });
    const before = await grantsOf(api, person);

    await aCode(api, { ...person, scopes: ['members:read'] });

    expect(await grantsOf(api, person)).toEqual(before);
  });

  test('for a team or another resource is a grant of its own', async ({ api }) => {
    const person = await aPerson(api);
    const team = await api.aTeam({ owner: person.account });
    await someTokens(api, person);
    await someTokens(api, { ...person, team });
    await tokensFor(api, person, 'http://localhost:3000/mcp');

    expect(await grantsOf(api, person)).toHaveLength(3);
  });

  test('after the grant has expired creates a new one, and revives nothing of the old one', async ({ api }) => {
    const person = await aPerson(api);
    const first = await someTokens(api, { ...person, scopes: SCOPES });
    const key = await aKey(api, first.tokens.access);
    const [old] = await grantsOf(api, person);
    await api.rows(`update oauth_grant set expires_at = now() - interval '1 ms' where id = $1`, [old?.id]);

    await someTokens(api, { ...person, scopes: SCOPES });

    expect((await grantsOf(api, person)).map(({ id }) => id)).not.toContain(old?.id);
    for (const credential of [first.tokens.access, key]) expect(await works(api, credential)).toBe(false);
  });

  test.for([1, 2, 3])('at the same time, eight times, ends in one grant (round %i)', async (_round, { api }) => {
    const person = await aPerson(api);
    const codes = [];
    for (let i = 0; i < 8; i += 1) codes.push(await aCode(api, { ...person, scopes: SCOPES }));

    const answers = await Promise.all(codes.map((given) => exchange(api, given)));

    expect(answers.map(outcome)).toEqual(Array(8).fill('200'));
    expect(await grantsOf(api, person)).toHaveLength(1);
    for (const { body } of answers) expect(await works(api, body.access_token)).toBe(true);
  });
});

describe('a family', () => {
  test.for<[string, (api: Api, device: Device) => Promise<unknown>]>([
    ['a replayed code', (api, device) => exchange(api, device)],
    [
      'a replayed refresh token',
      async (api, device) => {
        const { body } = await refresh(api, device.client, device.tokens.refresh);
        await refresh(api, device.client, body.refresh_token);
        return refresh(api, device.client, device.tokens.refresh);
      },
    ],
    ['a revoked one', (api, device) => post(api, '/oauth/revoke', device.client, { token: device.tokens.refresh })],
  ])('ends with %s and the keys created through it, and other devices stay connected', async ([, end], { api }) => {
    const person = await aPerson(api);
    const one = await someTokens(api, { ...person, scopes: SCOPES });
    const other = await someTokens(api, { ...person, scopes: SCOPES });
    const [keyOfOne, keyOfOther] = [await aKey(api, one.tokens.access), await aKey(api, other.tokens.access)];

    await end(api, one);

    for (const credential of [one.tokens.access, keyOfOne]) expect(await works(api, credential)).toBe(false);
    for (const credential of [other.tokens.access, keyOfOther]) expect(await works(api, credential)).toBe(true);
    expect(outcome(await refresh(api, person.client, one.tokens.refresh))).toBe('400 invalid_grant');
    expect(outcome(await refresh(api, person.client, other.tokens.refresh))).toBe('200');
    expect(await grantsOf(api, person)).toHaveLength(1);
  });

  type Device = Awaited<ReturnType<typeof someTokens>>;

  test('ends with its grant, like all others and a consent that waits for its exchange', async ({ api }) => {
    const person = await aPerson(api);
    const [one, other] = [await someTokens(api, person), await someTokens(api, person)];
    const waiting = await aCode(api, person);
    const [grant] = await grantsOf(api, person);

    await person.visitor.trpc.grants.revoke.mutate({ grantId: grant?.id ?? '' });

    for (const { tokens } of [one, other]) expect(await works(api, tokens.access)).toBe(false);
    expect(outcome(await exchange(api, waiting))).toBe('400 invalid_grant');
    expect(await isRevoked(api, grant?.id ?? '')).toBe(true);
    expect(await grantsOf(api, person)).toEqual([]);
  });

  test('does not get a key that is created while it is revoked or the scopes of its grant are reduced', async ({
    api,
  }) => {
    for (let round = 0; round < 6; round += 1) {
      const person = await aPerson(api);
      const device = await someTokens(api, { ...person, scopes: SCOPES });
      await someTokens(api, { ...person, scopes: SCOPES });
      const [grant] = await grantsOf(api, person);
      const narrow = () =>
        person.visitor.trpc.grants.narrow.mutate({ grantId: grant?.id ?? '', scopes: ['api-keys:write'] });
      const make = () =>
        api.as(device.tokens.access).post('/api/v1/api-keys', { name: 'A key', scopes: ['teams:read'] });

      const [created] = await Promise.all([make(), round % 2 === 0 ? narrow() : exchange(api, device)]);

      expect([201, 401, 403]).toContain(created.status);
      if (created.status === 201) expect(await works(api, created.body.secret)).toBe(false);
    }
  });
});

/** Tokens for a resource. */
async function tokensFor(
  api: Api,
  person: { account: AnAccount; client: AClient; visitor: Visitor },
  resource: string,
) {
  const { verifier, challenge } = aProofKey();
  const params = { ...goodRequest(person.client, challenge, ['teams:read']), resource };
  const id = await askConsent(api, person.visitor, params);
  const approval = { id, accountId: person.account.id, teamId: null, scopes: ['teams:read' as const] };
  const { redirectTo } = await person.visitor.trpc.authorizations.approve.mutate(approval);
  const code = (await resume(api, person.visitor, redirectTo)).get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
  const other = await post(api, '/oauth/token', person.client, {
    ...form,
    resource: `http://localhost:3000/${resource.endsWith('mcp') ? 'api/v1' : 'mcp'}`,
  });
  expect(outcome(other)).toBe('400 invalid_target');
  return (await post(api, '/oauth/token', person.client, { ...form, resource })).body;
}

describe('a token', () => {
  test('is accepted only by the resource that it was issued for, also after a refresh', async ({ api }) => {
    const person = await aPerson(api);
    const mcp = await tokensFor(api, person, 'http://localhost:3000/mcp');
    const rest = await tokensFor(api, person, 'http://localhost:3000/api/v1');
    const refreshed = await refresh(api, person.client, mcp.refresh_token);
    const crossed = await refresh(api, person.client, rest.refresh_token, { resource: 'http://localhost:3000/mcp' });

    expect(await works(api, rest.access_token)).toBe(true);
    expect(await works(api, mcp.access_token)).toBe(false);
    expect(await works(api, refreshed.body.access_token)).toBe(false);
    expect(outcome(crossed)).toBe('400 invalid_target');
    expect(outcome(await refresh(api, person.client, rest.refresh_token))).toBe('200');
  });
});

describe('without a scope', () => {
  test.for([undefined, '', 'openid offline_access'])(
    'all are offered, and those that read are preselected: %j',
    async (scope, { api }) => {
      const person = await aPerson(api);
      const { scope: _, ...params } = goodRequest(person.client, aProofKey().challenge, []);

      const id = await askConsent(api, person.visitor, { ...params, ...(scope !== undefined && { scope }) });

      const page = await person.visitor.trpc.authorizations.read.query({ id });
      expect(page.scopes).toHaveLength(10);
      expect(page.preselectedScopes).toEqual(page.scopes.filter((name) => name.endsWith(':read')));
    },
  );
});
