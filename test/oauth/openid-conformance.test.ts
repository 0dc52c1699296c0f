import { generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect } from 'vitest';
import { rotateKeys } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { aFirstParty, authorize } from './first-party-flow.ts';
import { exchange } from './flow.ts';
import { outcome } from './token-endpoint.ts';

const test = testWith(() => startApiAtItsAddress());

const INSECURE = { [oauth.allowInsecureRequests]: true };
type Scene = Awaited<ReturnType<typeof aFirstParty>>;

/** What a relying party knows: the metadata, itself, and how it proves that. */
async function aParty(api: Api, { client }: Scene) {
  const issuer = new URL(api.services.config.baseUrl);
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));
  const party: oauth.Client = { client_id: client.id };
  return { server, party, proof: oauth.ClientSecretPost(client.clientSecret ?? '') };
}

/** Asks for a code. @returns the URL to which the browser is sent */
async function ask(api: Api, scene: Scene, verifier: string, more: Readonly<Record<string, string>> = {}) {
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const asked = { scope: 'openid email teams:read', state: 'a-state', nonce: 'a-nonce', ...more };
  const { headers } = await authorize(api, scene.visitor, scene.client, challenge, asked);
  return new URL(headers.location ?? '');
}

/** Signs in as oauth4webapi does, with its checks. `alter` changes the id token on its way. */
async function signIn(api: Api, scene: Scene, alter: (token: string) => string = (token) => token) {
  const { server, party, proof } = await aParty(api, scene);
  const verifier = oauth.generateRandomCodeVerifier();
  const params = oauth.validateAuthResponse(server, party, await ask(api, scene, verifier), 'a-state');
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    party,
    proof,
    params,
    scene.client.redirectUri,
    verifier,
    INSECURE,
  );
  expect(response.headers.get('cache-control')).toContain('no-store');
  const body = (await response.json()) as { id_token: string; token_type: string };
  expect(body.token_type).toBe('Bearer');
  const altered = Response.json({ ...body, id_token: alter(body.id_token) });
  const checks = { expectedNonce: 'a-nonce', requireIdToken: true, maxAge: 600 };
  const tokens = await oauth.processAuthorizationCodeResponse(server, party, altered, checks);
  await oauth.validateApplicationLevelSignature(server, altered, INSECURE);
  return { server, party, proof, tokens };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('oauth4webapi', () => {
  test('signs a user in, reads the claims and refreshes, with all of its checks', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { server, party, proof, tokens } = await signIn(api, scene);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    expect(claims).toMatchObject({ sub: scene.account.id, nonce: 'a-nonce', email: scene.account.email });
    const response = await oauth.userInfoRequest(server, party, tokens.access_token, INSECURE);
    expect(await oauth.processUserInfoResponse(server, party, scene.account.id, response)).toMatchObject({
      sub: scene.account.id,
    });
    const again = await oauth.refreshTokenGrantRequest(server, party, proof, tokens.refresh_token ?? '', INSECURE);
    const refreshed = await oauth.processRefreshTokenResponse(server, party, again);
    expect(oauth.getValidatedIdTokenClaims(refreshed)).toMatchObject({ sub: scene.account.id });
  });

  test('accepts an id token of a key that was rotated since', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { server, party, tokens } = await signIn(api, scene);
    await rotateKeys(api.services);
    const response = Response.json({ ...tokens });
    await oauth.processAuthorizationCodeResponse(server, party, response, { expectedNonce: 'a-nonce' });
    await oauth.validateApplicationLevelSignature(server, response, INSECURE);
  });

  test('rejects an id token that is unsigned, of another key, issuer, client, nonce or access token', async ({
    api,
  }) => {
    const scene = await aFirstParty(api);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const withClaims = (more: object) => (token: string) =>
      [token.split('.')[0], encode({ ...decodeJwt(token), ...more }), token.split('.')[2]].join('.');
    const wrong: Record<string, (token: string) => string> = {
      unsigned: (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`,
      'of another key': (token) => {
        const text = `${encode({ alg: 'RS256', kid: decodeProtectedHeader(token).kid })}.${token.split('.')[1]}`;
        return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
      },
      'of another issuer': withClaims({ iss: 'https://other.example' }),
      'for another client': withClaims({ aud: 'client_other' }),
      'with another nonce': withClaims({ nonce: 'another' }),
      altered: withClaims({ sub: 'acc_other' }),
      expired: withClaims({ exp: 1 }),
    };
    for (const [name, alter] of Object.entries(wrong))
      await expect(signIn(api, scene, alter), name).rejects.toThrow(/unexpected|invalid|JWT|JWS/i);
  });

  test('rejects the response of another issuer or another state (mix-up, RFC 9207)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { server, party } = await aParty(api, scene);
    const url = await ask(api, scene, oauth.generateRandomCodeVerifier());
    expect(url.searchParams.get('iss')).toBe(server.issuer);
    expect(() => oauth.validateAuthResponse(server, party, url, 'another-state')).toThrow(/"state"/);
    url.searchParams.set('iss', 'https://other.example');
    expect(() => oauth.validateAuthResponse(server, party, url, 'a-state')).toThrow(/"iss"/);
    url.searchParams.delete('iss');
    expect(() => oauth.validateAuthResponse(server, party, url, 'a-state')).toThrow(/"iss"/);
  });
});

describe('a code (Core, section 3.1.3.2)', () => {
  test('is used once: a replay gets nothing, and ends the tokens of the first use', async ({ api }) => {
    const scene = await aFirstParty(api);
    const verifier = oauth.generateRandomCodeVerifier();
    const code = (await ask(api, scene, verifier)).searchParams.get('code') ?? '';
    const first = await exchange(api, { client: scene.client, code, verifier });
    const { access_token: token } = first.body as { access_token: string };
    expect((await api.as(token).get('/oauth/userinfo')).status).toBe(200);
    expect(outcome(await exchange(api, { client: scene.client, code, verifier }))).toBe('400 invalid_grant');
    expect(await api.as(token).get('/oauth/userinfo')).toBeProblem('credential_invalid');
  });

  test('is for its client and its verifier', async ({ api }) => {
    const scene = await aFirstParty(api);
    const other = await aFirstParty(api);
    const verifier = oauth.generateRandomCodeVerifier();
    const code = (await ask(api, scene, verifier)).searchParams.get('code') ?? '';
    expect(outcome(await exchange(api, { client: other.client, code, verifier }))).toBe('400 invalid_grant');
    const another = oauth.generateRandomCodeVerifier();
    expect(outcome(await exchange(api, { client: scene.client, code, verifier: another }))).toBe('400 invalid_grant');
  });
});
