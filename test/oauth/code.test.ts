import { describe, expect } from 'vitest';
import { disableAccount } from '../../src/resources/accounts/accounts.service.ts';
import { test, type Api } from '../support/api.ts';
import type { AClient } from '../support/factories.ts';
import { aCode, exchange, post, refresh, someTokens } from './flow.ts';
import { basic, familyOf, grantOf, outcome, outcomesOf, postForm, works, type Form } from './token-endpoint.ts';

describe('the authorization code', () => {
  test('is exchanged for tokens that act for the account, within what was granted', async ({ api }) => {
    const owner = await api.anAccount();
    await api.aTeam({ owner });

    const { redirect, ...given } = await aCode(api, { account: owner, scopes: ['teams:read', 'profile:read'] });
    expect(Object.fromEntries(redirect)).toEqual({
      code: expect.stringMatching(/^rst_ac_/),
      state: 'a-state',
      iss: 'http://localhost:3000',
    });
    const answer = await exchange(api, given);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^rst_at_/),
      refresh_token: expect.stringMatching(/^rst_rt_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'profile:read teams:read',
    });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' });
    expect((await api.as(answer.body.access_token).get('/api/v1/credential')).body).toEqual({
      kind: 'oauth-grant',
      audience: 'personal',
      team: null,
      scopes: ['profile:read', 'teams:read'],
    });
    expect((await api.as(answer.body.access_token).get('/api/v1/teams')).body).toHaveLength(1);
  });

  test('for one team leaves out what concerns the whole account', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });

    const { tokens } = await someTokens(api, { account: owner, team, scopes: ['teams:read', 'profile:read'] });

    expect((await api.as(tokens.access).get('/api/v1/credential')).body).toEqual({
      kind: 'oauth-grant',
      audience: 'team',
      team: { id: team.id },
      scopes: ['teams:read'],
    });
  });

  test('used again ends the grant, with its tokens and keys', async ({ api }) => {
    const given = await aCode(api, { scopes: ['teams:read', 'api-keys:write'] });
    const { body: tokens } = await exchange(api, given);
    const { body: key } = await api
      .as(tokens.access_token)
      .post('/api/v1/api-keys', { name: 'A key', scopes: ['teams:read'] });

    const second = await exchange(api, given);

    expect(outcome(second)).toBe('400 invalid_grant');
    expect(await works(api, tokens.access_token)).toBe(false);
    expect(await works(api, key.secret)).toBe(false);
    expect(outcome(await refresh(api, given.client, tokens.refresh_token))).toBe('400 invalid_grant');
  });

  // Guarantees that an attacker cannot revoke a grant, or consume a code, without the client's secrets.
  test('is rejected, and stays valid, if the request is invalid', async ({ api }) => {
    const given = await aCode(api);
    const other = await api.anOAuthClient();
    const { code, verifier, client } = given;
    const good = { grant_type: 'authorization_code', client_id: client.id, code, code_verifier: verifier };
    const send = (form: Form | string, headers = {}) => postForm(api, '/oauth/token', form, headers);
    const withOut = (name: string) => Object.entries(good).filter(([key]) => key !== name);
    const twice = (name: keyof typeof good, value = good[name]) => [...Object.entries(good), [name, value] as const];
    const json = { 'content-type': 'application/json' };
    const { 'content-type': _, ...noType } = { 'content-type': '' };

    expect(
      await outcomesOf({
        'no verifier': () => send(withOut('code_verifier')),
        'an empty verifier': () => send({ ...good, code_verifier: '' }),
        'a short verifier': () => send({ ...good, code_verifier: verifier.slice(0, 42) }),
        'a long verifier': () => send({ ...good, code_verifier: 'a'.repeat(129) }),
        'a verifier of other characters': () => send({ ...good, code_verifier: `${verifier.slice(0, 42)}+` }),
        'a wrong verifier': () => send({ ...good, code_verifier: 'a'.repeat(43) }),
        'another client': () => send({ ...good, client_id: other.id }),
        'no client': () => send(withOut('client_id')),
        'an unknown client': () => send({ ...good, client_id: 'client_00000000000000000000000000' }),
        'no client id': () => send({ ...good, client_id: "' or true --" }),
        'a wrong redirect': () => send({ ...good, redirect_uri: `${client.redirectUri}/` }),
        'two redirects': () => send(`${body(good)}&${body({ redirect_uri: client.redirectUri })}&redirect_uri=x`),
        'another resource': () => send({ ...good, resource: 'https://other.example' }),
        'no code': () => send(withOut('code')),
        'an unknown code': () => send({ ...good, code: 'rst_ac_0' }),
        'no grant type': () => send(withOut('grant_type')),
        'a code as refresh token': () => send({ ...good, grant_type: 'refresh_token', refresh_token: code }),
        'the grant type twice': () => send(twice('grant_type')),
        'another grant type, too': () => send(twice('grant_type', 'refresh_token')),
        'the code twice': () => send(twice('code')),
        'another code, too': () => send(twice('code', 'rst_ac_0')),
        'the verifier twice': () => send(twice('code_verifier')),
        'the client twice': () => send(twice('client_id')),
        JSON: () => send(JSON.stringify(good), json),
        'a form that says it is JSON': () => send(good, json),
        'no type': () =>
          api.anonymous.send({ method: 'POST', path: '/oauth/token', headers: noType, body: body(good) }),
        'no body': () => api.anonymous.send({ method: 'POST', path: '/oauth/token' }),
        'more than 56 KB': () => send({ ...good, more: 'a'.repeat(56 * 1024) }),
        'a compressed one': () => send(good, { 'content-encoding': 'gzip' }),
      }),
    ).toEqual({
      'no verifier': '400 invalid_grant',
      'an empty verifier': '400 invalid_grant',
      'a short verifier': '400 invalid_request',
      'a long verifier': '400 invalid_request',
      'a verifier of other characters': '400 invalid_request',
      'a wrong verifier': '400 invalid_grant',
      'another client': '400 invalid_grant',
      'no client': '400 invalid_request',
      'an unknown client': '401 invalid_client',
      'no client id': '401 invalid_client',
      'a wrong redirect': '400 invalid_grant',
      'two redirects': '400 invalid_request',
      'another resource': '400 invalid_target',
      'no code': '400 invalid_request',
      'an unknown code': '400 invalid_grant',
      'no grant type': '400 invalid_request',
      'a code as refresh token': '400 invalid_grant',
      'the grant type twice': '400 invalid_request',
      'another grant type, too': '400 invalid_request',
      'the code twice': '400 invalid_request',
      'another code, too': '400 invalid_request',
      'the verifier twice': '400 invalid_request',
      'the client twice': '400 invalid_request',
      JSON: '400 invalid_request',
      'a form that says it is JSON': '400 invalid_request',
      'no type': '400 invalid_request',
      'no body': '400 invalid_request',
      'more than 56 KB': '413 invalid_request',
      'a compressed one': '415 invalid_request',
    });
    expect(outcome(await exchange(api, given))).toBe('200');
  });

  test.for([
    'password',
    'client_credentials',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'constructor',
  ])('is the only way to a first token: %s is none', async (grantType, { api }) => {
    const client = await api.anOAuthClient({ confidential: true });

    const answer = await post(api, '/oauth/token', client, { grant_type: grantType, scope: 'teams:read' });

    expect(outcome(answer)).toBe('400 unsupported_grant_type');
  });

  test('may come with the redirect that it was sent to', async ({ api }) => {
    const { client, code, verifier } = await aCode(api);

    const answer = await post(api, '/oauth/token', client, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: client.redirectUri,
    });

    expect(outcome(answer)).toBe('200');
  });

  // Each would get tokens, and is shown not to: the code is good but for one thing.
  test.for<[string, (api: Api, familyId: string, accountId: string) => Promise<unknown>]>([
    [
      'is too old',
      (api, id) =>
        api.rows(`update oauth_token set expires_at = now() - interval '1 second' where family_id = $1`, [id]),
    ],
    ['belongs to a withdrawn consent', (api, id) => api.rows('delete from oauth_token_family where id = $1', [id])],
    [
      'belongs to a consent that would have ended',
      (api, id) =>
        api.rows(`update oauth_token_family set created_at = now() - interval '91 days' where id = $1`, [id]),
    ],
    ['belongs to a disabled account', (api, _id, accountId) => disableAccount(api.services.db, 'system', accountId)],
    [
      'belongs to a deleted account',
      (api, _id, accountId) => api.rows('delete from account where id = $1', [accountId]),
    ],
    [
      'belongs to a deleted client',
      (api, id) =>
        api.rows('delete from oauth_client where id = (select client_id from oauth_token_family where id = $1)', [id]),
    ],
  ])('is refused where it %s', async ([what, spoil], { api }) => {
    const given = await aCode(api);
    await spoil(api, await familyOf(api, given.client), given.account.id);

    const answer = await exchange(api, given);

    expect(outcome(answer)).toBe(what.endsWith('client') ? '401 invalid_client' : '400 invalid_grant');
    expect(await api.rows('select from oauth_grant where account_id = $1', [given.account.id])).toEqual([]);
  });

  test('lives for a minute, and the grant for 90 days', async ({ api }) => {
    const { client } = await someTokens(api);

    expect(
      await api.rows(
        `select extract(epoch from t.expires_at - t.created_at)::int as code,
           round(extract(epoch from g.expires_at - g.created_at) / 86400)::int as days
         from oauth_token t join oauth_grant g on g.id = t.grant_id where g.id = $1 and t.kind = 'code'`,
        [await grantOf(api, client)],
      ),
    ).toEqual([{ code: 60, days: 90 }]);
  });
});

const body = (form: Readonly<Record<string, string>>) => new URLSearchParams(form).toString();

describe('a client proves itself', () => {
  /** Whoever is believed learns that this refresh token is none; everybody else, that they are nobody. */
  const asking = { grant_type: 'refresh_token', refresh_token: 'rst_rt_0' };

  const withTwoSecrets = async (api: Api) => {
    const client = await api.anOAuthClient({ confidential: true });
    const [old, ended] = await Promise.all([
      anotherSecret(api, client, `now() + interval '1 hour'`),
      anotherSecret(api, client, `now() - interval '1 second'`),
    ]);
    return { client, secret: client.clientSecret ?? '', old, ended };
  };

  async function anotherSecret(api: Api, client: AClient, expiresAt: string): Promise<string> {
    const { secret, hash, last4 } = api.services.tokens.generate('clientSecret');
    await api.rows(
      `insert into oauth_client_secret (secret_hash, client_id, last4, created_at, expires_at)
       values ($1, $2, $3, now(), ${expiresAt})`,
      [hash, client.id, last4],
    );
    return secret;
  }

  test('by a secret, in the body or in a header, and by each that is valid during a rotation', async ({ api }) => {
    const { client, secret, old, ended } = await withTwoSecrets(api);
    const other = await api.anOAuthClient({ confidential: true });
    const inBody =
      (proof: string, more: Readonly<Record<string, string>> = {}) =>
      () =>
        postForm(api, '/oauth/token', { ...asking, client_id: client.id, client_secret: proof, ...more });
    const inHeader =
      (proof: string, more: Readonly<Record<string, string>> = {}) =>
      () =>
        postForm(api, '/oauth/token', { ...asking, ...more }, basic(client.id, proof));
    const BELIEVED = '400 invalid_grant';
    const NOBODY = '401 invalid_client';
    const MALFORMED = '400 invalid_request';

    expect(
      await outcomesOf({
        'in the body': inBody(secret),
        'in the header': inHeader(secret),
        'in the header, with the id in the body': inHeader(secret, { client_id: client.id }),
        'the old one, in the body': inBody(old),
        'the old one, in the header': inHeader(old),
        'one that has ended, in the body': inBody(ended),
        'one that has ended, in the header': inHeader(ended),
        'a wrong one, in the body': inBody(`${secret.slice(0, -1)}-`),
        'a wrong one, in the header': inHeader(`${secret.slice(0, -1)}-`),
        "another client's, in the body": inBody(other.clientSecret ?? ''),
        "another client's, in the header": inHeader(other.clientSecret ?? ''),
        'its stand-in': inBody('(hashed)'),
        'an empty one, in the body': inBody(''),
        'an empty one, in the header': inHeader(''),
        none: () => postForm(api, '/oauth/token', { ...asking, client_id: client.id }),
        'in both places': inHeader(secret, { client_secret: secret }),
        'in the header, with another id in the body': inHeader(secret, { client_id: other.id }),
        'twice in the body': () =>
          postForm(
            api,
            '/oauth/token',
            `${body({ ...asking, client_id: client.id, client_secret: secret })}&client_secret=x`,
          ),
        'as a bearer token': () =>
          postForm(api, '/oauth/token', { ...asking, client_id: client.id }, { authorization: `Bearer ${secret}` }),
        'in a header that is no base64': () => postForm(api, '/oauth/token', asking, { authorization: 'Basic %%%' }),
      }),
    ).toEqual({
      'in the body': BELIEVED,
      'in the header': BELIEVED,
      'in the header, with the id in the body': BELIEVED,
      'the old one, in the body': BELIEVED,
      'the old one, in the header': BELIEVED,
      'one that has ended, in the body': NOBODY,
      'one that has ended, in the header': NOBODY,
      'a wrong one, in the body': NOBODY,
      'a wrong one, in the header': NOBODY,
      "another client's, in the body": NOBODY,
      "another client's, in the header": NOBODY,
      'its stand-in': NOBODY,
      'an empty one, in the body': NOBODY,
      'an empty one, in the header': NOBODY,
      none: NOBODY,
      'in both places': MALFORMED,
      'in the header, with another id in the body': MALFORMED,
      'twice in the body': MALFORMED,
      'as a bearer token': MALFORMED,
      'in a header that is no base64': MALFORMED,
    });
  });

  test('by nothing where it has no secret, and then not by one', async ({ api }) => {
    const client = await api.anOAuthClient();
    const { clientSecret } = await api.anOAuthClient({ confidential: true });

    expect(
      await outcomesOf({
        nothing: () => postForm(api, '/oauth/token', { ...asking, client_id: client.id }),
        'a secret in the body': () =>
          postForm(api, '/oauth/token', { ...asking, client_id: client.id, client_secret: clientSecret ?? '' }),
        'a secret in the header': () => postForm(api, '/oauth/token', asking, basic(client.id, clientSecret)),
      }),
    ).toEqual({
      nothing: '400 invalid_grant',
      'a secret in the body': '401 invalid_client',
      'a secret in the header': '401 invalid_client',
    });
  });

  test('and gets a challenge if it authenticated by the header', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });

    const { headers } = await postForm(api, '/oauth/token', asking, basic(client.id, 'wrong'));

    expect(headers['www-authenticate']).toMatch(/^Basic realm="http:\/\/localhost:3000"/);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('at the exchange, too: the code of a confidential client is valid only with its secret', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });
    const { code, verifier } = await aCode(api, { client });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier };

    expect(outcome(await postForm(api, '/oauth/token', { ...form, client_id: client.id }))).toBe('401 invalid_client');
    expect(outcome(await postForm(api, '/oauth/token', form, basic(client.id, client.clientSecret)))).toBe('200');
  });
});

describe('pages of other origins', () => {
  test('read the answers to a client whose redirect they are, and to no other', async ({ api }) => {
    const { client, tokens } = await someTokens(api);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh, client_id: client.id };
    const from = (origin: string) => postForm(api, '/oauth/token', form, { origin });

    for (const origin of ['https://other.example', 'https://client.example:444', 'http://client.example', 'null']) {
      // Answered, because programs send any `Origin`; a page of another one cannot read it.
      const foreign = await from(origin);
      expect(outcome(foreign)).toBe('200');
      expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
    }
    const own = await from('https://client.example');

    expect(outcome(own)).toBe('200');
    expect(own.headers['access-control-allow-origin']).toBe('https://client.example');
    expect(own.headers['access-control-allow-credentials']).toBeUndefined();
    expect(own.headers.vary).toMatch(/\borigin\b/i);
  });

  test('may ask whether they may ask', async ({ api }) => {
    const headers = { origin: 'https://client.example', 'access-control-request-method': 'POST' };
    const answer = await api.anonymous.send({ method: 'OPTIONS', path: '/oauth/token', headers });

    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-methods']).toBe('POST');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });
});
