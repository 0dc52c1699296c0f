import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { aFirstParty, authorize, endOf, firstPartyTokens } from './first-party-flow.ts';
import { aProofKey, browse, goodRequest, post, queryOf } from './flow.ts';
import { outcome, postForm } from './token-endpoint.ts';

const test = testWith(() => startApiAtItsAddress());

const SCOPE = 'openid teams:read';
type Scene = Awaited<ReturnType<typeof aFirstParty>>;
type Asked = Readonly<Record<string, string>>;

/** The request of an application, in which `undefined` leaves a parameter out. */
function requestOf({ client }: Scene, more: Readonly<Record<string, string | undefined>> = {}) {
  const asked = { ...goodRequest(client, aProofKey().challenge, ['teams:read']), scope: SCOPE, ...more };
  return Object.fromEntries(Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** What a request ends with: the parameters of the redirect to the application, or the status of a page. */
async function endOfRequest(api: Api, scene: Scene, more: Readonly<Record<string, string | undefined>> = {}) {
  const open = browse(api, scene.visitor);
  let answer = await open(`/oauth/authorize?${queryOf(requestOf(scene, more))}`);
  for (let hops = 0; hops < 5 && answer.headers.location?.startsWith('/oauth/authorize/'); hops += 1)
    answer = await open(answer.headers.location ?? '');
  const { location } = answer.headers;
  return location?.startsWith(scene.client.redirectUri) ? new URL(location).searchParams : answer.status;
}

async function aCodeFor(api: Api, scene: Scene, asked: Asked = {}) {
  const { verifier, challenge } = aProofKey();
  const end = endOf(await authorize(api, scene.visitor, scene.client, challenge, { scope: SCOPE, ...asked }));
  if (typeof end === 'string') throw new Error(`No code: ${end}`);
  return { code: end['code'] ?? '', verifier };
}

const exchanged = (api: Api, { client }: Scene, form: Asked) =>
  post(api, '/oauth/token', client, { grant_type: 'authorization_code', ...form });

describe('the authorization endpoint', () => {
  test('takes GET and POST (3.1.2.1)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const asked = requestOf(scene);
    // A browser sends no cookie with a POST of another site.
    const { status, headers } = await postForm(api, '/oauth/authorize', asked);
    expect([status, headers.location]).toEqual([303, `/oauth/authorize?${queryOf(asked)}`]);
    expect(await endOfRequest(api, scene)).toBeInstanceOf(URLSearchParams);
  });

  test('returns the state and puts the nonce into the id token, both as they came (3.1.2.1, 3.1.2.5)', async ({
    api,
  }) => {
    const scene = await aFirstParty(api);
    const odd = 'ä+%20 &=/"\\\u{1F511}';
    const end = await endOfRequest(api, scene, { state: odd });
    expect(end).toBeInstanceOf(URLSearchParams);
    expect((end as URLSearchParams).get('state')).toBe(odd);
    const { body } = await firstPartyTokens(api, scene, { scope: SCOPE, nonce: odd });
    expect(decodeJwt(body['id_token'] ?? '')['nonce']).toBe(odd);
  });

  test('sends an error with the state for a missing, unknown or contradictory parameter (3.1.2.2, 3.1.2.6)', async ({
    api,
  }) => {
    const scene = await aFirstParty(api);
    const errors: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
      invalid_request: { response_type: undefined },
      unsupported_response_type: { response_type: 'id_token' },
      invalid_scope: { scope: 'openid unknown:scope' },
      request_not_supported: { request: 'x.y.z' },
    };
    for (const [error, more] of Object.entries(errors)) {
      const end = await endOfRequest(api, scene, more);
      expect(end, error).toBeInstanceOf(URLSearchParams);
      const { error: found, state, iss, code } = Object.fromEntries(end as URLSearchParams);
      expect({ found, state, iss, code }).toEqual({
        found: error,
        state: 'a-state',
        iss: api.services.config.baseUrl,
        code: undefined,
      });
    }
    for (const more of [
      { redirect_uri: undefined },
      { prompt: 'none login' },
      { max_age: '-1' },
      { prompt: 'unknown' },
    ]) {
      const end = await endOfRequest(api, scene, more);
      expect([...(end as URLSearchParams).entries()]).toContainEqual(['error', 'invalid_request']);
    }
  });

  test('sends nothing to a redirect URI that is not the registered one to the letter (3.1.2.1, 3.1.2.6)', async ({
    api,
  }) => {
    const scene = await aFirstParty(api);
    const { redirectUri } = scene.client;
    for (const wrong of [`${redirectUri}/`, `${redirectUri}?x=1`, redirectUri.toUpperCase(), 'https://evil.example/'])
      expect(await endOfRequest(api, scene, { redirect_uri: wrong }), wrong).toBe(400);
  });

  test('lets nobody in who is not signed in, without a page if that is asked for (3.1.2.3)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const nobody = { ...scene, visitor: api.visitor() };
    expect(((await endOfRequest(api, nobody, { prompt: 'none' })) as URLSearchParams).get('error')).toBe(
      'login_required',
    );
    expect(await endOfRequest(api, nobody)).toBe(303);
    const other = await aFirstParty(api);
    const end = await endOfRequest(
      api,
      { ...scene, visitor: other.visitor },
      { prompt: 'none', login_hint: scene.account.id },
    );
    expect((end as URLSearchParams).get('error')).not.toBeNull();
  });

  test('cannot be framed (3.1.2.3)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const open = browse(api, scene.visitor);
    const answer = await open(`/oauth/authorize?${queryOf(requestOf(scene, { prompt: 'consent' }))}`);
    expect(answer.headers['x-frame-options']).toBe('DENY');
    const page = await open(answer.headers.location ?? '/');
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });
});

describe('the token endpoint', () => {
  test('gives tokens to the client that proves itself alone (3.1.3.1, 3.1.3.2)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { code, verifier } = await aCodeFor(api, scene);
    const form = { code, code_verifier: verifier };
    const without = { grant_type: 'authorization_code', client_id: scene.client.id, ...form };
    expect(outcome(await exchanged(api, scene, { ...form, client_secret: 'rst_cs_wrong' }))).toBe('401 invalid_client');
    expect(outcome(await postForm(api, '/oauth/token', without))).toBe('401 invalid_client');
    expect(outcome(await exchanged(api, scene, form))).toBe('200');
  });

  test('takes a code with its redirect URI alone, and not after its time (3.1.3.2)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const formOf = async () => {
      const { code, verifier } = await aCodeFor(api, scene);
      return { code, code_verifier: verifier };
    };
    const elsewhere = { ...(await formOf()), redirect_uri: 'https://other.example/callback' };
    expect(outcome(await exchanged(api, scene, elsewhere))).toBe('400 invalid_grant');
    const form = await formOf();
    await api.rows(
      `update oauth_token set expires_at = now() - interval '1 ms' where kind = 'code' and family_id in (
      select id from oauth_token_family where client_id = $1)`,
      [scene.client.id],
    );
    expect(outcome(await exchanged(api, scene, form))).toBe('400 invalid_grant');
  });

  test('answers tokens and errors as JSON that nothing keeps (3.1.3.3, 3.1.3.4)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { code, verifier } = await aCodeFor(api, scene);
    const good = await exchanged(api, scene, { code, code_verifier: verifier });
    const bad = await exchanged(api, scene, { code: 'x', code_verifier: verifier });
    for (const { headers } of [good, bad]) {
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(headers['cache-control']).toContain('no-store');
    }
    expect(good.body).toMatchObject({ token_type: 'Bearer', expires_in: 600, id_token: expect.any(String) });
    expect(outcome(bad)).toBe('400 invalid_grant');
    expect(bad.body).not.toHaveProperty('id_token');
  });

  test('makes id tokens for this client, of now, for a short time (2, 3.1.3.7)', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { body } = await firstPartyTokens(api, scene, { scope: SCOPE });
    const { iss, aud, azp, iat = 0, exp = 0, sub = '' } = decodeJwt(body['id_token'] ?? '');
    expect({ iss, aud, azp }).toEqual({ iss: api.services.config.baseUrl, aud: scene.client.id, azp: undefined });
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
    expect(exp - iat).toBe(600);
    expect(sub).toMatch(/^[\x21-\x7e]{1,255}$/);
  });
});
