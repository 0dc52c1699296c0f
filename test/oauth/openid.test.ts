import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oauth from 'openid-client';
import { describe, expect } from 'vitest';
import { rotateKeys, readSigned } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { anAddress, tokenTo } from '../trpc/people.ts';
import { outcome } from './token-endpoint.ts';
import { aFirstParty, authorize, endOf, firstPartyTokens, outcomeAt, sessionOf } from './first-party-flow.ts';
import { aProofKey, exchange, refresh, someTokens } from './flow.ts';

const test = testWith(() => startApiAtItsAddress({ TRPC_ORIGINS: 'https://spa.example' }));

const SCOPE = 'openid profile email teams:read';
const OPENID = { scope: SCOPE, nonce: 'a-nonce' };

const userinfo = (api: Api, token: string, method: 'GET' | 'POST' = 'GET') =>
  api.as(token).send({ method, path: '/oauth/userinfo' });

/** Verifies an id token by the published keys. */
const verified = (api: Api, token: string, audience: string) => {
  const { baseUrl } = api.services.config;
  const keys = createRemoteJWKSet(new URL('/oauth/jwks', baseUrl));
  return jwtVerify(token, keys, { issuer: baseUrl, audience, algorithms: ['RS256'] });
};

describe('discovery', () => {
  test('names what is there', async ({ api }) => {
    const { baseUrl } = api.services.config;
    const { body, headers } = await api.anonymous.get('/.well-known/openid-configuration');
    expect(body).toMatchObject({
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/oauth/authorize`,
      token_endpoint: `${baseUrl}/oauth/token`,
      jwks_uri: `${baseUrl}/oauth/jwks`,
      userinfo_endpoint: `${baseUrl}/oauth/userinfo`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['code'],
      scopes_supported: expect.arrayContaining(['openid', 'profile', 'email', 'teams:read']),
    });
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*' });
  });
});

describe('an id token', () => {
  test('says who signed in, when and how, to the client alone (Core, section 2)', async ({ api }) => {
    const scene = await aFirstParty(api);
    await api.rows(
      `update account set first_name = 'Ada', last_name = 'Lovelace', preferred_locale = 'de', avatar = $2 where id = $1`,
      [scene.account.id, 'https://pictures.example/ada.png'],
    );
    const provenAt = Date.now() - 3_600_000;
    await api.rows('update session set proofs = $2, proven_at = null where account_id = $1', [
      scene.account.id,
      { password: new Date(provenAt).toISOString() },
    ]);
    const { body, access } = await firstPartyTokens(api, scene, OPENID);
    expect(body).toMatchObject({ scope: SCOPE, token_type: 'Bearer' });
    const { payload, protectedHeader } = await verified(api, body['id_token'] ?? '', scene.client.id);
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.stringMatching(/^sig_/) });
    const iat = payload.iat ?? 0;
    expect(payload).toEqual({
      iss: api.services.config.baseUrl,
      sub: scene.account.id,
      aud: scene.client.id,
      iat,
      exp: iat + 600,
      nonce: 'a-nonce',
      sid: await sessionOf(api, scene.visitor),
      auth_time: Math.floor(provenAt / 1000),
      amr: ['pwd'],
      at_hash: createHash('sha256').update(access).digest().subarray(0, 16).toString('base64url'),
      email: scene.account.email,
      email_verified: true,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      picture: 'https://pictures.example/ada.png',
      locale: 'de',
    });
  });

  test('after a change of the address has the same subject and the new address (Core, section 5.7)', async ({
    api,
  }) => {
    const scene = await aFirstParty(api);
    const { access, refresh: token } = await firstPartyTokens(api, scene, OPENID);
    const newEmail = anAddress();
    const { account } = scene.visitor.trpc;
    await account.changeEmail.mutate({ newEmail });
    expect((await userinfo(api, access)).body).toMatchObject({ email: scene.account.email });
    await account.confirmEmailChange.mutate({ token: await tokenTo(api, newEmail, /^Confirm/) });

    const claims = { sub: scene.account.id, email: newEmail, email_verified: true };
    expect((await userinfo(api, access)).body).toMatchObject(claims);
    const { body } = await refresh(api, scene.client, token);
    expect(decodeJwt(body.id_token)).toMatchObject({ ...claims, sid: await sessionOf(api, scene.visitor) });
  });

  test('has what the scopes ask for, and is not there without openid', async ({ api }) => {
    const scene = await aFirstParty(api);
    const only = decodeJwt((await firstPartyTokens(api, scene, { scope: 'openid teams:read' })).body['id_token'] ?? '');
    expect(Object.keys(only)).not.toEqual(expect.arrayContaining(['email']));
    expect(only).not.toHaveProperty('name');
    expect(only).not.toHaveProperty('nonce');
    const email = decodeJwt((await firstPartyTokens(api, scene, { scope: 'openid email' })).body['id_token'] ?? '');
    expect(email).toMatchObject({ email: scene.account.email, email_verified: true });
    expect((await firstPartyTokens(api, scene, { scope: 'teams:read' })).body).not.toHaveProperty('id_token');
    expect(await outcomeAt(api, scene.visitor, scene.client, { scope: 'profile email' })).toBe('invalid_scope');
  });

  test('is given to no client that is not first-party', async ({ api }) => {
    const { tokens, client, visitor } = await someTokens(api);
    expect(await outcomeAt(api, visitor, client, { scope: 'openid teams:read' })).toBe('page');
    expect(await outcomeAt(api, visitor, client, { scope: 'openid profile' })).toBe('invalid_scope');
    const families = await api.rows(
      'select 1 from oauth_token_family where openid_scopes is not null and client_id = $1',
      [client.id],
    );
    expect(families).toEqual([]);
    expect(await userinfo(api, tokens.access)).toBeProblem('scope_missing');
  });

  test('of a refresh has the time of the sign-in and no nonce (Core, section 12.2)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const first = await firstPartyTokens(api, scene, OPENID);
    const before = decodeJwt(first.body['id_token'] ?? '');
    await api.rows('update session set proofs = $2 where account_id = $1', [
      scene.account.id,
      { passkey: new Date(Date.now() + 5000).toISOString() },
    ]);
    const { body } = await refresh(api, scene.client, first.refresh, { scope: SCOPE });
    const { payload } = await verified(api, body.id_token, scene.client.id);
    const { iss, sub, aud, auth_time: time, amr, sid } = before as Record<string, unknown>;
    expect(payload).toMatchObject({ iss, sub, aud, auth_time: time, amr, sid });
    expect(payload).not.toHaveProperty('nonce');
    expect(body.scope).toBe(SCOPE);
  });

  test('with max_age has an auth_time that is as recent (Core, section 3.1.2.1)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { body } = await firstPartyTokens(api, scene, { ...OPENID, max_age: '60' });
    const { auth_time: time } = decodeJwt(body['id_token'] ?? '') as { auth_time: number };
    expect(Date.now() / 1000 - time).toBeLessThan(60);
  });
});

describe('signing keys', () => {
  test('are published without their private part, and stay so for two rotations', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { body } = await firstPartyTokens(api, scene, OPENID);
    const old = body['id_token'] ?? '';
    const published = async () => (await api.anonymous.get('/oauth/jwks')).body.keys as Record<string, string>[];
    for (const key of await published())
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);

    await rotateKeys(api.services);
    const next = (await firstPartyTokens(api, scene, OPENID)).body['id_token'] ?? '';
    expect(decodeProtectedHeader(next).kid).not.toBe(decodeProtectedHeader(old).kid);
    for (const token of [old, next]) await verified(api, token, scene.client.id);
    await rotateKeys(api.services);
    await verified(api, old, scene.client.id);
    await rotateKeys(api.services);
    expect((await published()).map(({ kid }) => kid)).not.toContain(decodeProtectedHeader(old).kid);
    expect(await published()).toHaveLength(3);
    const [row] = await api.rows<{ private_key: string }>('select private_key from signing_key');
    expect(row?.private_key).not.toContain('PRIVATE');
  });

  test('of an installation that has none become one, however many ask at once', async ({ api }) => {
    await api.rows('delete from signing_key');
    const scene = await aFirstParty(api);
    const all = await Promise.all([1, 2, 3].map(() => firstPartyTokens(api, scene, OPENID)));
    for (const { body } of all) await verified(api, body['id_token'] ?? '', scene.client.id);
  });

  test('accept neither another algorithm nor another key', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { body } = await firstPartyTokens(api, scene, OPENID);
    const token = body['id_token'] ?? '';
    const [head = '', claims = '', signature = ''] = token.split('.');
    const { db } = api.services;
    expect(await readSigned(db, token)).toMatchObject({ sub: scene.account.id });
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { kid } = decodeProtectedHeader(token);
    const own = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const forged = `${encode({ alg: 'RS256', kid })}.${claims}`;
    for (const wrong of [
      `${encode({ alg: 'none', kid })}.${claims}.`,
      `${encode({ alg: 'HS256', kid })}.${claims}.${signature}`,
      `${forged}.${sign('sha256', Buffer.from(forged), own).toString('base64url')}`,
      `${head}.${encode({ ...decodeJwt(token), sub: 'acc_other' })}.${signature}`,
      `${head}.${claims}`,
      `${head}.${claims}.${signature}.x`,
      'x.y.z',
      '',
    ])
      expect(await readSigned(db, wrong), wrong).toBeUndefined();
  });
});

describe('userinfo', () => {
  test('answers the subject of the id token, by GET and POST (Core, section 5.3)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { access, body } = await firstPartyTokens(api, scene, OPENID);
    for (const method of ['GET', 'POST'] as const) {
      const answer = await userinfo(api, access, method);
      expect(answer.status).toBe(200);
      expect(answer.body.sub).toBe(decodeJwt(body['id_token'] ?? '').sub);
      expect(answer.body).toMatchObject({ email: scene.account.email, email_verified: true });
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' });
    }
  });

  test('can be read by pages of the client and of TRPC_ORIGINS, as the keys by all pages', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { access } = await firstPartyTokens(api, scene, OPENID);
    await api.rows('update oauth_client set redirect_uris = $2 where id = $1', [
      scene.client.id,
      ['https://app.example:8443/cb', 'http://localhost:5173/cb', 'capacitor://localhost/cb'],
    ]);
    await api.anOAuthClient({ redirectUri: 'https://other.example/cb' });
    const read = async (origin: string, authorization = `Bearer ${access}`) => {
      const sent = { method: 'GET', path: '/oauth/userinfo', headers: { origin, authorization } };
      const { status, headers } = await api.anonymous.send(sent);
      return [status, headers['access-control-allow-origin']];
    };
    for (const origin of [
      'https://app.example:8443',
      'http://localhost:5173',
      'http://localhost:4173',
      'capacitor://localhost',
      'https://spa.example',
    ])
      expect(await read(origin), origin).toEqual([200, origin]);
    for (const origin of ['https://app.example', 'http://app.example:8443', 'https://other.example', 'null'])
      expect(await read(origin), origin).toEqual([200, undefined]);
    // So that a page can tell that its token has ended.
    expect(await read('https://app.example:8443', 'Bearer wrong')).toEqual([401, '*']);
    for (const path of ['/oauth/userinfo', '/oauth/jwks']) {
      const headers = { origin: 'https://app.example:8443', 'access-control-request-method': 'GET' };
      const preflight = await api.anonymous.send({ method: 'OPTIONS', path, headers });
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
    }
    const keys = await api.anonymous.send({
      method: 'GET',
      path: '/oauth/jwks',
      headers: { origin: 'https://any.example' },
    });
    expect([keys.status, keys.headers['access-control-allow-origin']]).toEqual([200, '*']);
  });

  test('is for the tokens of openid alone, while their session lasts', async ({ api }) => {
    const scene = await aFirstParty(api);
    const plain = await firstPartyTokens(api, scene, { scope: 'teams:read' });
    expect(await userinfo(api, plain.access)).toBeProblem('scope_missing');
    const key = await api.anApiKey(scene.account);
    expect(await userinfo(api, key.secret)).toBeProblem('scope_missing');
    const { access, body } = await firstPartyTokens(api, scene, OPENID);
    expect(await userinfo(api, body['id_token'] ?? '')).toBeProblem('credential_invalid');
    await scene.visitor.trpc.auth.signOut.mutate();
    expect(await userinfo(api, access)).toBeProblem('credential_invalid');
    expect((await api.anonymous.get('/oauth/userinfo')).headers['www-authenticate']).toMatch(/^Bearer/);
  });
});

describe('openid-client', () => {
  test('signs a user in, and finds what is not of this sign-in', async ({ api }) => {
    const { baseUrl } = api.services.config;
    const scene = await aFirstParty(api);
    const options = { execute: [oauth.allowInsecureRequests] };
    const { id, clientSecret, redirectUri } = scene.client;
    const config = await oauth.discovery(new URL(baseUrl), id, clientSecret ?? '', undefined, options);
    const signIn = async (pkceCodeVerifier: string, expectedNonce: string, nonce = expectedNonce) => {
      const challenge = await oauth.calculatePKCECodeChallenge(pkceCodeVerifier);
      const asked = { ...OPENID, nonce, state: 'a-state', max_age: '600' };
      const answer = await authorize(api, scene.visitor, scene.client, challenge, asked);
      const checks = { pkceCodeVerifier, expectedNonce, expectedState: 'a-state', idTokenExpected: true, maxAge: 600 };
      return oauth.authorizationCodeGrant(config, new URL(answer.headers.location ?? ''), checks);
    };
    const tokens = await signIn(oauth.randomPKCECodeVerifier(), 'the-nonce');
    expect(tokens.claims()).toMatchObject({ sub: scene.account.id, email: scene.account.email });
    const info = await oauth.fetchUserInfo(config, tokens.access_token, scene.account.id);
    expect(info).toMatchObject({ sub: scene.account.id });
    const again = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(again.claims()?.sub).toBe(scene.account.id);

    await expect(signIn(oauth.randomPKCECodeVerifier(), 'the-nonce', 'another-nonce')).rejects.toMatchObject({
      code: expect.stringMatching(/^OAUTH_/),
    });
    await expect(oauth.fetchUserInfo(config, tokens.access_token, 'acc_other')).rejects.toMatchObject({
      code: expect.stringMatching(/^OAUTH_/),
    });
    // Mix-up: the answer of another issuer (RFC 9207).
    const end = await authorize(api, scene.visitor, scene.client, aProofKey().challenge, OPENID);
    const mixed = new URL(end.headers.location ?? redirectUri);
    mixed.searchParams.set('iss', 'https://other.example');
    const checks = { pkceCodeVerifier: 'x'.repeat(43), expectedState: 'a-state' };
    await expect(oauth.authorizationCodeGrant(config, mixed, checks)).rejects.toMatchObject({
      code: expect.stringMatching(/^OAUTH_/),
    });
  });

  test('gets nothing with the code of somebody else’s browser', async ({ api }) => {
    const scene = await aFirstParty(api);
    const other = await signedIn(api, await api.anAccount());
    const mine = aProofKey();
    const stolen = endOf(await authorize(api, other, scene.client, aProofKey().challenge, OPENID)) as { code: string };
    const answer = await exchange(api, { client: scene.client, code: stolen.code, verifier: mine.verifier });
    expect(outcome(answer)).toBe('400 invalid_grant');
  });
});
