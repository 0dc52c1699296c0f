import pg from 'pg';
import { describe, expect, vi } from 'vitest';
import { disableAccount, enableAccount } from '../../src/resources/accounts/accounts.service.ts';
import { startApi, test as base, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import { post, refresh, someTokens } from './flow.ts';
import { grantOf, isRevoked, liveChains, outcome, outcomesOf, postForm, scopesOf, works } from './token-endpoint.ts';

const test = base.extend<{ unforgiving: Api }>({
  /** Another instance on the same database, where no refresh is answered twice. */
  unforgiving: [
    async ({ api }, use) => {
      const unforgiving = await startApi({ OAUTH_REFRESH_REPEAT: '0' }, api);
      await use(unforgiving);
      await unforgiving.close();
    },
    { scope: 'file' },
  ],
});

/** Tokens, and the grant that they come from. */
async function aChain(api: Api, wanted: Parameters<typeof someTokens>[1] = {}) {
  const given = await someTokens(api, wanted);
  return { ...given, grantId: await grantOf(api, given.client) };
}

type Chain = Awaited<ReturnType<typeof aChain>>;

/** Makes everything of a grant older than it is. */
async function age(api: Api, { grantId }: Chain, seconds: number): Promise<void> {
  await api.rows(
    `update oauth_token set consumed_at = consumed_at - make_interval(secs => $2),
       created_at = created_at - make_interval(secs => $2), expires_at = expires_at - make_interval(secs => $2)
     where grant_id = $1`,
    [grantId, seconds],
  );
}

const DAY = 86_400;
const API = 'http://localhost:3000/api/v1';

describe('a refresh', () => {
  test('gives new tokens with the same scopes', async ({ api }) => {
    const { client, tokens } = await someTokens(api, { scopes: ['profile:read', 'teams:read'] });

    const answer = await refresh(api, client, tokens.refresh);

    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^rst_at_/),
      refresh_token: expect.stringMatching(/^rst_rt_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'profile:read teams:read',
    });
    expect(answer.body.access_token).not.toBe(tokens.access);
    expect(answer.body.refresh_token).not.toBe(tokens.refresh);
    expect(await scopesOf(api, answer.body.access_token)).toEqual(['profile:read', 'teams:read']);
  });

  test('can ask for fewer scopes, which the next need not', async ({ api }) => {
    const { client, tokens } = await someTokens(api, { scopes: ['profile:read', 'teams:read'] });

    const narrow = await refresh(api, client, tokens.refresh, { scope: 'teams:read' });
    const wide = await refresh(api, client, narrow.body.refresh_token);

    expect(narrow.body.scope).toBe('teams:read');
    expect(await scopesOf(api, narrow.body.access_token)).toEqual(['teams:read']);
    expect(wide.body.scope).toBe('profile:read teams:read');
    expect(await scopesOf(api, wide.body.access_token)).toEqual(['profile:read', 'teams:read']);
  });

  // Guarantees that an attacker cannot revoke a grant, or consume a token, by an invalid request.
  test('is rejected, and the token stays valid, if the request is invalid', async ({ api }) => {
    const { client, tokens, grantId } = await aChain(api);
    const [other, confidential] = await Promise.all([api.anOAuthClient(), api.anOAuthClient({ confidential: true })]);
    const good = { grant_type: 'refresh_token', refresh_token: tokens.refresh, client_id: client.id };
    const send = (changes: Record<string, string>) => () => postForm(api, '/oauth/token', { ...good, ...changes });

    expect(
      await outcomesOf({
        'more scopes': send({ scope: 'teams:read profile:read' }),
        'other scopes': send({ scope: 'profile:read' }),
        'a scope that nobody knows': send({ scope: 'everything' }),
        'another resource': send({ resource: 'https://other.example' }),
        'two resources': () =>
          postForm(api, '/oauth/token', [...Object.entries(good), ['resource', API], ['resource', API]]),
        'another client': send({ client_id: other.id }),
        'another client that proves itself': () => refresh(api, confidential, tokens.refresh),
        'an unknown token': send({ refresh_token: 'rst_rt_0' }),
        'an access token': send({ refresh_token: tokens.access }),
        'an access token and its grant type': send({ refresh_token: tokens.access, grant_type: 'access_token' }),
        'no token': send({ refresh_token: '' }),
        'the token twice': () =>
          postForm(api, '/oauth/token', [...Object.entries(good), ['refresh_token', tokens.refresh]]),
        'the scope twice': () =>
          postForm(api, '/oauth/token', [...Object.entries(good), ['scope', 'teams:read'], ['scope', 'teams:read']]),
      }),
    ).toEqual({
      'more scopes': '400 invalid_scope',
      'other scopes': '400 invalid_scope',
      'a scope that nobody knows': '400 invalid_scope',
      'another resource': '400 invalid_target',
      'two resources': '400 invalid_target',
      'another client': '400 invalid_grant',
      'another client that proves itself': '400 invalid_grant',
      'an unknown token': '400 invalid_grant',
      'an access token': '400 invalid_grant',
      'an access token and its grant type': '400 unsupported_grant_type',
      'no token': '400 invalid_request',
      'the token twice': '400 invalid_request',
      'the scope twice': '400 invalid_request',
    });
    expect(await isRevoked(api, grantId)).toBe(false);
    expect(outcome(await refresh(api, client, tokens.refresh))).toBe('200');
  });

  test.for<[string, (api: Api, chain: Chain) => Promise<unknown>]>([
    ['is 30 days old', (api, chain) => age(api, chain, 30 * DAY + 1)],
    ['belongs to a revoked grant', (_api, { visitor, grantId }) => visitor.trpc.grants.revoke.mutate({ grantId })],
    [
      'belongs to a grant that is over',
      (api, { grantId }) =>
        api.rows(`update oauth_grant set expires_at = now() - interval '1 s' where id = $1`, [grantId]),
    ],
    ['belongs to a disabled account', (api, { account }) => disableAccount(api.services.db, 'system', account.id)],
    ['belongs to a deleted account', (_api, { visitor }) => visitor.trpc.account.delete.mutate()],
    ['belongs to somebody who is no member of the team any more', removeFromTeam],
  ])('is refused where the token %s, and so is the access token', async ([what, spoil], { api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(team, account);
    const chain = await aChain(api, { account, team });
    await spoil(api, chain);

    expect(outcome(await refresh(api, chain.client, chain.tokens.refresh))).toBe('400 invalid_grant');
    expect(await works(api, chain.tokens.access)).toBe(false);
    expect(await refreshTokens(api, chain)).toHaveLength(what.includes('deleted') ? 0 : 1);
  });

  test('works until the token is 30 days old, each time for 30 days more, and never after the 90 days of the grant', async ({
    api,
  }) => {
    const chain = await aChain(api);
    await age(api, chain, 30 * DAY - 60);
    const late = await refresh(api, chain.client, chain.tokens.refresh);
    expect(outcome(late)).toBe('200');

    await age(api, chain, 30 * DAY - 60);
    await api.rows(`update oauth_grant set expires_at = now() + interval '1 minute' where id = $1`, [chain.grantId]);
    const later = await refresh(api, chain.client, late.body.refresh_token);
    expect(outcome(later)).toBe('200');

    await api.rows(`update oauth_grant set expires_at = now() - interval '1 s' where id = $1`, [chain.grantId]);
    expect(outcome(await refresh(api, chain.client, later.body.refresh_token))).toBe('400 invalid_grant');
    expect(await works(api, later.body.access_token)).toBe(false);
  });

  test('works again when the account does', async ({ api }) => {
    const { account, client, tokens } = await someTokens(api);
    await disableAccount(api.services.db, 'system', account.id);
    await refresh(api, client, tokens.refresh);

    await enableAccount(api.services.db, 'system', account.id);

    expect(await works(api, tokens.access)).toBe(true);
    expect(outcome(await refresh(api, client, tokens.refresh))).toBe('200');
  });

  test('of a grant with reduced scopes gives the remaining ones, which also limit earlier tokens', async ({ api }) => {
    const chain = await aChain(api, { scopes: ['profile:read', 'teams:read', 'members:read'] });
    const { client, tokens } = chain;
    await narrow(chain, ['profile:read', 'teams:read']);

    expect(await scopesOf(api, tokens.access)).toEqual(['profile:read', 'teams:read']);
    expect(outcome(await refresh(api, client, tokens.refresh, { scope: 'members:read' }))).toBe('400 invalid_scope');
    const answer = await refresh(api, client, tokens.refresh);

    expect(answer.body.scope).toBe('profile:read teams:read');
    expect(await scopesOf(api, answer.body.access_token)).toEqual(['profile:read', 'teams:read']);
  });
});

async function removeFromTeam(api: Api, { visitor, account }: Chain) {
  const [grant] = await visitor.trpc.grants.list.query();
  const teamId = grant?.team?.id ?? '';
  const admin = await api.anAccount();
  await api.aMember({ id: teamId }, admin, { role: (await api.aRole({ id: teamId }, ['remove_members'])).id });
  await (await signedIn(api, admin)).trpc.removeTeamMember.mutate({ teamId, userId: account.id });
}

const refreshTokens = (api: Api, { grantId }: Chain) =>
  api.rows(`select from oauth_token where grant_id = $1 and kind = 'refresh'`, [grantId]);

const narrow = ({ visitor, grantId }: Chain, scopes: ('profile:read' | 'teams:read')[]) =>
  visitor.trpc.grants.narrow.mutate({ grantId, scopes });

const isSearchForAnswer = (query: unknown): boolean =>
  typeof query === 'object' && query !== null && 'name' in query && query.name === 'oauth_refresh_answer_find';

describe('a refresh that comes again', () => {
  test('within half a minute gets the same answer, on every replica', async ({ api }) => {
    const replica = await startApi({}, api);
    const chain = await aChain(api);
    const first = await refresh(api, chain.client, chain.tokens.refresh);
    await age(api, chain, 25);

    const again = [
      await refresh(replica, chain.client, chain.tokens.refresh),
      await refresh(api, chain.client, chain.tokens.refresh),
    ];
    await replica.close();

    for (const { status, body, headers } of again) {
      expect([status, body]).toEqual([200, first.body]);
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-type']).toBe(first.headers['content-type']);
    }
    expect(await works(api, first.body.access_token)).toBe(true);
    expect(await liveChains(api, chain.grantId)).toBe(1);
  });

  test('gets the same answer where it asks for the same, fewer scopes', async ({ api }) => {
    const { client, tokens } = await aChain(api, { scopes: ['profile:read', 'teams:read'] });
    const ask = () => refresh(api, client, tokens.refresh, { scope: 'teams:read' });

    const first = await ask();

    expect((await ask()).body).toEqual(first.body);
    expect(first.body.scope).toBe('teams:read');
  });

  // Clients whose library adds parameters at a repetition are no attackers.
  test('gets the same answer where it asks for the same in other words', async ({ api }) => {
    const scopes = ['profile:read', 'teams:read'] as const;
    const ways: Record<string, string>[] = [
      {},
      { scope: 'profile:read teams:read' },
      { scope: 'teams:read profile:read teams:read' },
      { scope: 'openid offline_access teams:read profile:read' },
      { resource: API },
      { resource: `${API}/` },
      { resource: API.replace('http://localhost', 'HTTP://LocalHost') },
      { resource: API, scope: 'teams:read profile:read' },
    ];
    for (const first of ways.slice(0, 2).concat(ways.slice(-2))) {
      const { client, tokens } = await aChain(api, { scopes: [...scopes] });
      const { status, body } = await refresh(api, client, tokens.refresh, first);
      expect(status, JSON.stringify(first)).toBe(200);
      for (const again of ways) {
        const answer = await refresh(api, client, tokens.refresh, again);
        expect([again, answer.status, answer.body]).toEqual([again, 200, body]);
      }
    }
  });

  // Each indicates that the token leaked, or would give more than the remaining scopes.
  test.for<[string, (api: Api, chain: Chain, first: Answer) => Promise<unknown>]>([
    ['after a minute', (api, chain) => age(api, chain, 61)],
    [
      'after the new access token was used',
      async (api, _chain, { body }) => {
        await works(api, body.access_token);
        await api.usage.flush();
      },
    ],
    ['after the new refresh token was used', (api, { client }, { body }) => refresh(api, client, body.refresh_token)],
    [
      'after the client revoked the new access token',
      (api, { client }, { body }) => post(api, '/oauth/revoke', client, { token: body.access_token }),
    ],
    ['after the grant was narrowed', (_api, chain) => narrow(chain, ['teams:read'])],
    [
      'where the answer was lost with its replica',
      async (api, chain) => {
        await api.rows('delete from oauth_refresh_answer');
        await age(api, chain, 3);
      },
    ],
  ])('%s ends the grant', async ([, happens], { api }) => {
    const chain = await aChain(api, { scopes: ['profile:read', 'teams:read'] });
    const first = await refresh(api, chain.client, chain.tokens.refresh);
    await happens(api, chain, first);

    await expectReuse(api, chain, () => refresh(api, chain.client, chain.tokens.refresh));
    expect(await works(api, first.body.access_token)).toBe(false);
    expect(outcome(await refresh(api, chain.client, first.body.refresh_token))).toBe('400 invalid_grant');
  });

  test('with another scope ends the grant', async ({ api }) => {
    const chain = await aChain(api, { scopes: ['profile:read', 'teams:read'] });
    await refresh(api, chain.client, chain.tokens.refresh);

    await expectReuse(api, chain, () => refresh(api, chain.client, chain.tokens.refresh, { scope: 'teams:read' }));
  });

  test('ends the grant where the operator wants it to', async ({ api, unforgiving }) => {
    const chain = await aChain(api);
    await refresh(unforgiving, chain.client, chain.tokens.refresh);

    expect(
      await api.rows('select from oauth_refresh_answer r join oauth_token t using (token_hash) where t.grant_id = $1', [
        chain.grantId,
      ]),
    ).toEqual([]);
    await expectReuse(api, chain, () => refresh(unforgiving, chain.client, chain.tokens.refresh));
  });

  test('from another client is rejected, and changes nothing', async ({ api }) => {
    const chain = await aChain(api);
    const first = await refresh(api, chain.client, chain.tokens.refresh);

    for (const other of [await api.anOAuthClient(), await api.anOAuthClient({ confidential: true })]) {
      expect(outcome(await refresh(api, other, chain.tokens.refresh))).toBe('400 invalid_grant');
    }

    expect(await isRevoked(api, chain.grantId)).toBe(false);
    expect((await refresh(api, chain.client, chain.tokens.refresh)).body).toEqual(first.body);
    expect(await works(api, first.body.access_token)).toBe(true);
  });

  test('gets nothing if the grant is revoked while it waits for the answer of the first', async ({ api }) => {
    const chain = await aChain(api);
    await refresh(api, chain.client, chain.tokens.refresh);
    const [kept] = await api.rows<{ row: object }>('delete from oauth_refresh_answer r returning to_jsonb(r) as row');
    await age(api, chain, -60); // The first is answered for a minute still.
    const queries = vi.spyOn(pg.Client.prototype, 'query');
    const repeated = refresh(api, chain.client, chain.tokens.refresh);
    await expect.poll(() => queries.mock.calls.flat().some(isSearchForAnswer)).toBe(true);

    await api.rows(
      `with revoked as (update oauth_grant set revoked_at = now() where id = $1)
       insert into oauth_refresh_answer select * from jsonb_populate_record(null::oauth_refresh_answer, $2)`,
      [chain.grantId, JSON.stringify(kept?.row)],
    );

    expect(outcome(await repeated)).toBe('400 invalid_grant');
  });

  test('of a revoked grant gets nothing', async ({ api }) => {
    const chain = await aChain(api);
    await refresh(api, chain.client, chain.tokens.refresh);
    await chain.visitor.trpc.grants.revoke.mutate({ grantId: chain.grantId });

    expect(outcome(await refresh(api, chain.client, chain.tokens.refresh))).toBe('400 invalid_grant');
  });

  async function expectReuse(api: Api, { grantId, tokens }: Chain, send: () => Promise<Answer>): Promise<void> {
    expect(await isRevoked(api, grantId)).toBe(false);
    expect(outcome(await send())).toBe('400 invalid_grant');
    expect(await isRevoked(api, grantId)).toBe(true);
    expect(await works(api, tokens.access)).toBe(false);
  }
});
