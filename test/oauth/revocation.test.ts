import { describe, expect } from 'vitest';
import { disableAccount } from '../../src/resources/accounts/accounts.service.ts';
import { test, type Api } from '../support/api.ts';
import { aCode, exchange, post, refresh, someTokens } from './flow.ts';
import { basic, grantOf, isRevoked, outcome, outcomesOf, postForm, scopesOf, works } from './token-endpoint.ts';

const revoke = (api: Api, client: Parameters<typeof post>[2], token: string, hint?: string) =>
  post(api, '/oauth/revoke', client, { token, ...(hint !== undefined && { token_type_hint: hint }) });

describe('RFC 7009: a client gives back', () => {
  test.for([undefined, 'refresh_token', 'access_token', 'nonsense'])(
    'its only refresh token, and the grant ends with its tokens and keys (hint: %s)',
    async (hint, { api }) => {
      const { client, tokens } = await someTokens(api, { scopes: ['teams:read', 'api-keys:write'] });
      const key = await api.as(tokens.access).post('/api/v1/api-keys', { name: 'A key', scopes: ['teams:read'] });
      expect(key.status).toBe(201);

      const answer = await revoke(api, client, tokens.refresh, hint);

      expect([answer.status, answer.text]).toEqual([200, '']);
      expect(await isRevoked(api, await grantOf(api, client))).toBe(true);
      expect(await works(api, tokens.access)).toBe(false);
      expect(await works(api, key.body.secret)).toBe(false);
      expect(outcome(await refresh(api, client, tokens.refresh))).toBe('400 invalid_grant');
      expect(outcome(await revoke(api, client, tokens.refresh, hint))).toBe('200');
    },
  );

  test('a refresh token that was used already, and the grant ends as well', async ({ api }) => {
    const { client, tokens } = await someTokens(api);
    const { body } = await refresh(api, client, tokens.refresh);

    expect(outcome(await revoke(api, client, tokens.refresh))).toBe('200');

    expect(await works(api, body.access_token)).toBe(false);
    expect(outcome(await refresh(api, client, body.refresh_token))).toBe('400 invalid_grant');
  });

  test.for([undefined, 'refresh_token', 'access_token'])(
    'an access token, and it ends alone (hint: %s)',
    async (hint, { api }) => {
      const { client, tokens } = await someTokens(api);
      const { body } = await refresh(api, client, tokens.refresh);

      expect(outcome(await revoke(api, client, tokens.access, hint))).toBe('200');

      expect(await works(api, tokens.access)).toBe(false);
      expect(await works(api, body.access_token)).toBe(true);
      expect(outcome(await refresh(api, client, body.refresh_token))).toBe('200');
    },
  );

  test('only its own: unknown tokens and those of other clients stay valid', async ({ api }) => {
    const { tokens, client } = await someTokens(api);
    const waiting = await aCode(api);
    const [other, confidential] = await Promise.all([api.anOAuthClient(), api.anOAuthClient({ confidential: true })]);
    const key = await api.anApiKey(await api.anAccount());

    for (const stranger of [other, confidential]) {
      for (const token of [tokens.access, tokens.refresh, waiting.code, key.secret, 'rst_rt_0', 'nothing']) {
        const answer = await revoke(api, stranger, token);
        expect([answer.status, answer.text]).toEqual([200, '']);
      }
    }

    expect(await works(api, tokens.access)).toBe(true);
    expect(await works(api, key.secret)).toBe(true);
    expect(outcome(await refresh(api, client, tokens.refresh))).toBe('200');
    expect(outcome(await exchange(api, waiting))).toBe('200');
  });

  test('nothing where it does not prove itself, or does not say what', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });
    const { tokens } = await someTokens(api, { client });
    const form = { token: tokens.refresh };
    const send =
      (more: Record<string, string>, headers = {}) =>
      () =>
        postForm(api, '/oauth/revoke', { ...form, ...more }, headers);

    expect(
      await outcomesOf({
        'no client': send({}),
        'no secret': send({ client_id: client.id }),
        'a wrong secret': send({ client_id: client.id, client_secret: 'wrong' }),
        'no token': send({ client_id: client.id, client_secret: client.clientSecret ?? '', token: '' }),
        JSON: () =>
          postForm(api, '/oauth/revoke', JSON.stringify(form), {
            'content-type': 'application/json',
            ...basic(client.id, client.clientSecret),
          }),
        'more than 56 KB': send({ more: 'a'.repeat(56 * 1024) }, basic(client.id, client.clientSecret)),
      }),
    ).toEqual({
      'no client': '400 invalid_request',
      'no secret': '401 invalid_client',
      'a wrong secret': '401 invalid_client',
      'no token': '400 invalid_request',
      JSON: '400 invalid_request',
      'more than 56 KB': '413 invalid_request',
    });
    expect(await works(api, tokens.access)).toBe(true);
    expect(outcome(await postForm(api, '/oauth/revoke', form, basic(client.id, client.clientSecret)))).toBe('200');
    expect(await works(api, tokens.access)).toBe(false);
  });
});

describe('RFC 7662: a client asks', () => {
  const INACTIVE = { active: false };

  const aConfidential = async (api: Api, wanted: Parameters<typeof someTokens>[1] = {}) => {
    const client = await api.anOAuthClient({ confidential: true });
    const given = await someTokens(api, { ...wanted, client });
    const ask = async (token: string, hint?: string) => {
      const answer = await post(api, '/oauth/introspect', client, {
        token,
        ...(hint !== undefined && { token_type_hint: hint }),
      });
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-store');
      return answer.body;
    };
    return { ...given, ask };
  };

  test('about its own tokens, and learns no more than what they are good for', async ({ api }) => {
    const { account, client, tokens, ask } = await aConfidential(api, { scopes: ['profile:read', 'teams:read'] });
    const now = Math.floor(Date.now() / 1000);
    const common = {
      active: true,
      client_id: client.id,
      sub: account.id,
      iss: 'http://localhost:3000',
      iat: expect.closeTo(now, -2),
      scope: 'profile:read teams:read',
    };
    const access = {
      ...common,
      aud: 'http://localhost:3000/api/v1',
      token_type: 'Bearer',
      exp: expect.closeTo(now + 3600, -2),
    };

    expect(await ask(tokens.access)).toEqual(access);
    expect(await ask(tokens.access, 'refresh_token')).toEqual(access);
    expect(await ask(tokens.refresh)).toEqual({ ...common, exp: expect.closeTo(now + 30 * 86_400, -2) });
  });

  test('about what is not its own, and learns nothing', async ({ api }) => {
    const { ask } = await aConfidential(api);
    const others = await aConfidential(api);
    const { code } = await aCode(api);
    const key = await api.anApiKey(await api.anAccount());
    const { tokens: publics } = await someTokens(api);

    for (const token of [others.tokens.access, others.tokens.refresh, publics.access, code, key.secret, 'nothing']) {
      expect(await ask(token)).toEqual(INACTIVE);
    }
  });

  test('and is not answered where it has no secret, or does not prove it', async ({ api }) => {
    const { client, tokens } = await someTokens(api);
    const confidential = await aConfidential(api);

    expect((await post(api, '/oauth/introspect', client, { token: tokens.access })).body).toEqual(INACTIVE);
    const asked = { token: confidential.tokens.access, client_id: confidential.client.id };
    expect(outcome(await postForm(api, '/oauth/introspect', asked))).toBe('401 invalid_client');
    expect(outcome(await postForm(api, '/oauth/introspect', { token: asked.token }))).toBe('400 invalid_request');
  });

  test('after a refresh, and learns that the refresh token was used', async ({ api }) => {
    const { client, tokens, ask } = await aConfidential(api);

    const { body } = await refresh(api, client, tokens.refresh);

    expect(await ask(tokens.refresh)).toEqual(INACTIVE);
    expect(await ask(tokens.access)).toMatchObject({ active: true });
    expect(await ask(body.refresh_token)).toMatchObject({ active: true });
    // To ask about it is not to use it: the answer can still be repeated.
    await ask(body.access_token);
    expect((await refresh(api, client, tokens.refresh)).body).toEqual(body);
  });

  type Given = Awaited<ReturnType<typeof aConfidential>> & { grantId: string };

  test.for<[string, (api: Api, given: Given) => Promise<unknown>]>([
    ['the grant was revoked', (_api, { visitor, grantId }) => visitor.trpc.grants.revoke.mutate({ grantId })],
    [
      'the grant is over',
      (api, { grantId }) =>
        api.rows(`update oauth_grant set expires_at = now() - interval '1 s' where id = $1`, [grantId]),
    ],
    [
      'the tokens expired',
      (api, { grantId }) =>
        api.rows(`update oauth_token set expires_at = now() - interval '1 s' where grant_id = $1`, [grantId]),
    ],
    ['the account was disabled', (api, { account }) => disableAccount(api.services.db, 'system', account.id)],
    ['the account was deleted', (_api, { visitor }) => visitor.trpc.account.delete.mutate()],
  ])('after %s, and learns that nothing is active', async ([, happens], { api }) => {
    const given = await aConfidential(api);
    await happens(api, { ...given, grantId: await grantOf(api, given.client) });

    expect(await given.ask(given.tokens.access)).toEqual(INACTIVE);
    expect(await given.ask(given.tokens.refresh)).toEqual(INACTIVE);
  });

  // Guarantees that what is reported is what is enforced.
  test('after the scopes of the grant were reduced, and reports the remaining scopes', async ({ api }) => {
    const { client, visitor, tokens, ask } = await aConfidential(api, { scopes: ['profile:read', 'teams:read'] });
    const { body: narrow } = await refresh(api, client, tokens.refresh, { scope: 'profile:read' });
    await visitor.trpc.grants.narrow.mutate({ grantId: await grantOf(api, client), scopes: ['teams:read'] });

    expect((await ask(tokens.access)).scope).toBe('teams:read');
    expect(await scopesOf(api, tokens.access)).toEqual(['teams:read']);
    expect((await ask(narrow.refresh_token)).scope).toBe('teams:read');
    expect((await ask(narrow.access_token)).scope).toBeUndefined();
    expect(await scopesOf(api, narrow.access_token)).toEqual([]);
  });
});
