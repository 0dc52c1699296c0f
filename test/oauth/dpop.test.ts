import { hash, randomUUID } from 'node:crypto';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  SignJWT,
  type GenerateKeyPairResult,
  type JWK,
} from 'jose';
import { describe, expect, onTestFinished, test as base, vi } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import type { Answer, Sent } from '../support/client.ts';
import { aFirstParty, authorize, endOf } from './first-party-flow.ts';
import { aCode, aProofKey, goodRequest } from './flow.ts';
import { postForm } from './token-endpoint.ts';

const FRONTEND = 'https://app.example';
const ON = { OAUTH_DPOP: 'true', TRPC_ORIGINS: FRONTEND };
const BASE_URL = 'http://localhost:3000';
const ALGORITHMS = 'algs="ES256 Ed25519 EdDSA"';
const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource/api/v1"`;

const test = base.extend<{ api: Api }>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const api = await startApi(ON);
      await use(api);
      await api.close();
      expect(api.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    },
    { scope: 'file' },
  ],
});

type Key = { alg: string; privateKey: GenerateKeyPairResult['privateKey']; jwk: JWK; thumbprint: string };

async function aKey(alg = 'ES256'): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { alg, privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}

/** A token that is bound to a key, with the scope to list teams and no other. */
async function aBoundToken(api: Api, alg?: string) {
  const grant = await api.aGrant(await api.anAccount());
  const key = await aKey(alg);
  await api.rows('update oauth_token set thumbprint = $2 where grant_id = $1', [grant.id, key.thumbprint]);
  return { grant, key, token: grant.secret };
}

type Claims = Record<string, unknown>;
type Proof = { key: Key; token: string; claims?: Claims; header?: Record<string, unknown>; signedBy?: Key };

/** An honest proof for `GET /api/v1/credential`, but for what is said otherwise; undefined leaves a claim out. */
function aProof({ key, token, claims = {}, header = {}, signedBy = key }: Proof): Promise<string> {
  const honest: Claims = {
    htm: 'GET',
    htu: `${BASE_URL}/api/v1/credential`,
    iat: now(),
    jti: randomUUID(),
    ath: hash('sha256', token, 'base64url'),
  };
  return new SignJWT({ ...honest, ...claims })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: key.alg, jwk: key.jwk, ...header })
    .sign(signedBy.privateKey);
}

const now = (): number => Math.floor(Date.now() / 1000);

type Call = Partial<Sent> & { proof?: string | string[]; scheme?: string };

/** Calls `GET /api/v1/credential`, or what is said otherwise, with the token in the DPoP scheme. */
const call = (api: Pick<Api, 'anonymous'>, token: string, { proof, scheme = 'DPoP', headers, ...sent }: Call = {}) =>
  api.anonymous.send({
    method: 'GET',
    path: '/api/v1/credential',
    ...sent,
    headers: { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }), ...headers },
  });

function expectRefused(answer: Answer, error: 'invalid_token' | 'invalid_dpop_proof'): void {
  expect(answer).toBeProblem('credential_invalid');
  expect(answer.headers['www-authenticate']).toBe(`DPoP error="${error}", ${ALGORITHMS}, ${METADATA}`);
}

describe('a token that is bound to a key', () => {
  test.for(['ES256', 'Ed25519', 'EdDSA'])('is accepted with a proof of the key by %s', async (alg, { api }) => {
    const { key, token } = await aBoundToken(api, alg);

    const answer = await call(api, token, { proof: await aProof({ key, token }) });

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ kind: 'oauth-grant', scopes: ['teams:read'] });
  });

  test('is accepted whatever the case of the scheme', async ({ api }) => {
    const { key, token } = await aBoundToken(api);

    expect((await call(api, token, { scheme: 'dpop', proof: await aProof({ key, token }) })).status).toBe(200);
  });

  // Guarantees that who took the token alone has nothing, and that a proof does not change that.
  test('is rejected as a bearer token, with a proof and without', async ({ api }) => {
    const { key, token } = await aBoundToken(api);

    const without = await api.as(token).get('/api/v1/credential');
    const beside = await call(api, token, { scheme: 'Bearer', proof: await aProof({ key, token }) });

    for (const answer of [without, beside]) {
      expect(answer).toBeProblem('credential_invalid');
      expect(answer.headers['www-authenticate']).toBe(`Bearer error="invalid_token", ${METADATA}`);
    }
  });

  test('is charged to its grant when it is accepted, and to the address when it is not', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const left = ({ headers }: Answer) => Number(headers['ratelimit-remaining']);

    const first = await call(api, token, { proof: await aProof({ key, token }) });
    const refused = await call(api, token);
    const second = await call(api, token, { proof: await aProof({ key, token }) });

    expect(left(first)).toBe(999_999);
    expect(left(refused)).toBeLessThan(999_999);
    expect(left(second)).toBe(999_998);
  });

  test('is rejected beside another Authorization header', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const authorization = [`DPoP ${token}`, `DPoP ${token}`];

    const answer = await call(api, token, { proof: await aProof({ key, token }), headers: { authorization } });

    expect(answer).toBeProblem('credential_invalid');
  });

  test('gets the missing scope in a challenge of its own scheme', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token, claims: { htu: `${BASE_URL}/api/v1/me` } });

    const answer = await call(api, token, { path: '/api/v1/me', proof });

    expect(answer).toBeProblem('scope_missing');
    expect(answer.headers['www-authenticate']).toBe(
      `DPoP error="insufficient_scope", scope="profile:read", ${ALGORITHMS}, ${METADATA}`,
    );
  });
});

describe('the DPoP scheme is rejected', () => {
  test('for an access token that is bound to no key', async ({ api }) => {
    const { secret: token } = await api.aGrant(await api.anAccount());
    const key = await aKey();

    expectRefused(await call(api, token, { proof: await aProof({ key, token }) }), 'invalid_token');
  });

  test('for an API key', async ({ api }) => {
    const { secret: token } = await api.anApiKey(await api.anAccount());
    const key = await aKey();

    expectRefused(await call(api, token, { proof: await aProof({ key, token }) }), 'invalid_token');
  });

  test('for a token that has expired, and for one that never was', async ({ api }) => {
    const { grant, key, token } = await aBoundToken(api);
    await api.rows(`update oauth_token set expires_at = now() - interval '1 s' where grant_id = $1`, [grant.id]);

    expectRefused(await call(api, token, { proof: await aProof({ key, token }) }), 'invalid_token');
    expectRefused(await call(api, 'invented', { proof: await aProof({ key, token: 'invented' }) }), 'invalid_token');
  });
});

describe('a proof is rejected', () => {
  test('that is not there', async ({ api }) => {
    const { token } = await aBoundToken(api);

    expectRefused(await call(api, token), 'invalid_dpop_proof');
  });

  test('that is one of two', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proofs = [await aProof({ key, token }), await aProof({ key, token })];

    expectRefused(await call(api, token, { proof: proofs }), 'invalid_dpop_proof');
    expectRefused(await call(api, token, { proof: proofs.join(', ') }), 'invalid_dpop_proof');
    expect((await call(api, token, { proof: proofs.slice(0, 1) })).status).toBe(200);
  });

  test.for(['', 'a proof', 'a.b.c', 'e30.e30.e30', '..'])('that is no JWT: "%s"', async (proof, { api }) => {
    const { token } = await aBoundToken(api);

    expectRefused(await call(api, token, { proof }), 'invalid_dpop_proof');
  });

  test('by another key', async ({ api }) => {
    const { token } = await aBoundToken(api);
    const other = await aKey();

    expectRefused(await call(api, token, { proof: await aProof({ key: other, token }) }), 'invalid_dpop_proof');
  });

  test('that names the key and is signed by another', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token, signedBy: await aKey() });

    expectRefused(await call(api, token, { proof }), 'invalid_dpop_proof');
  });

  test('whose claims were changed after it was signed', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const [head, , signature] = (await aProof({ key, token, claims: { htm: 'POST' } })).split('.');
    const [, claims] = (await aProof({ key, token })).split('.');

    expectRefused(await call(api, token, { proof: `${head}.${claims}.${signature}` }), 'invalid_dpop_proof');
  });

  test('that carries the private key', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token, header: { jwk: await exportJWK(key.privateKey) } });

    expectRefused(await call(api, token, { proof }), 'invalid_dpop_proof');
  });

  test.for(['PS256', 'RS256', 'ES384'])('by %s, which is not among ours', async (alg, { api }) => {
    const { key, token } = await aBoundToken(api, alg);

    expectRefused(await call(api, token, { proof: await aProof({ key, token }) }), 'invalid_dpop_proof');
  });

  test('that is unsigned, or signed with a shared secret', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const [, claims] = (await aProof({ key, token })).split('.');
    const unsigned = Buffer.from(JSON.stringify({ typ: 'dpop+jwt', alg: 'none', jwk: key.jwk })).toString('base64url');
    const secret = Buffer.from('a secret that both sides would have to know');
    const jwk = { kty: 'oct', k: secret.toString('base64url') };
    await api.rows('update oauth_token set thumbprint = $2 where thumbprint = $1', [
      key.thumbprint,
      await calculateJwkThumbprint(jwk),
    ]);
    const shared = await new SignJWT(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString()))
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'HS256', jwk })
      .sign(secret);

    expectRefused(await call(api, token, { proof: `${unsigned}.${claims}.` }), 'invalid_dpop_proof');
    expectRefused(await call(api, token, { proof: shared }), 'invalid_dpop_proof');
  });

  const headers: readonly [string, Record<string, unknown>][] = [
    ['another type', { typ: 'JWT' }],
    ['no type', { typ: undefined }],
    ['no key', { jwk: undefined }],
    ['a key that is none', { jwk: 'key' }],
  ];
  test.for(headers)('with %s in its header', async ([, header], { api }) => {
    const { key, token } = await aBoundToken(api);

    expectRefused(await call(api, token, { proof: await aProof({ key, token, header }) }), 'invalid_dpop_proof');
  });

  const claims: readonly [string, () => Claims][] = [
    ['no method', () => ({ htm: undefined })],
    ['another method', () => ({ htm: 'POST' })],
    ['the method in lower case', () => ({ htm: 'get' })],
    ['no URL', () => ({ htu: undefined })],
    ['what is no URL', () => ({ htu: '/api/v1/credential' })],
    ['another path', () => ({ htu: `${BASE_URL}/api/v1/me` })],
    ['a longer path', () => ({ htu: `${BASE_URL}/api/v1/credential/` })],
    ['the path in another case', () => ({ htu: `${BASE_URL}/api/v1/Credential` })],
    ['another host', () => ({ htu: 'http://127.0.0.1:3000/api/v1/credential' })],
    ['another port', () => ({ htu: 'http://localhost/api/v1/credential' })],
    ['another protocol', () => ({ htu: 'https://localhost:3000/api/v1/credential' })],
    ['a user in the URL', () => ({ htu: 'http://user@localhost:3000/api/v1/credential' })],
    ['no time', () => ({ iat: undefined })],
    ['a time that is no number', () => ({ iat: String(now()) })],
    ['an end that has passed', () => ({ exp: now() - 5 })],
    ['no id', () => ({ jti: undefined })],
    ['an empty id', () => ({ jti: '' })],
    ['an id that is no string', () => ({ jti: 1 })],
    ['no token', () => ({ ath: undefined })],
    ['another token', () => ({ ath: hash('sha256', 'another', 'base64url') })],
    ['the hash of the token in hexadecimal digits', () => ({ ath: 'hex' })],
  ];
  test.for(claims)('that names %s', async ([, claimsNow], { api }) => {
    const { key, token } = await aBoundToken(api);
    const lies = claimsNow();
    if (lies['ath'] === 'hex') lies['ath'] = hash('sha256', token, 'hex');

    expectRefused(await call(api, token, { proof: await aProof({ key, token, claims: lies }) }), 'invalid_dpop_proof');
  });

  // Guarantees that a proof for one token does not serve for another of the same key.
  test('that was created for another token of the same key', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const { grant, token: other } = await aBoundToken(api);
    await api.rows('update oauth_token set thumbprint = $2 where grant_id = $1', [grant.id, key.thumbprint]);

    expectRefused(await call(api, other, { proof: await aProof({ key, token }) }), 'invalid_dpop_proof');
  });
});

describe('a proof is good', () => {
  const claims: readonly [string, () => Claims][] = [
    ['with a query and a fragment', () => ({ htu: `${BASE_URL}/api/v1/credential?a=b#c` })],
    ['with the host in capitals', () => ({ htu: 'HTTP://LOCALHOST:3000/api/v1/credential' })],
    ['with letters written as codes', () => ({ htu: `${BASE_URL}/api/v1/%63redentia%6C` })],
    ['with dot segments', () => ({ htu: `${BASE_URL}/api/v1/teams/../credential` })],
    ['with more to say', () => ({ nonce: 'a nonce', more: true })],
  ];
  test.for(claims)('%s', async ([, claimsNow], { api }) => {
    const { key, token } = await aBoundToken(api);

    expect((await call(api, token, { proof: await aProof({ key, token, claims: claimsNow() }) })).status).toBe(200);
  });

  test('for a request with a query, whatever its Host header contains', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token });

    const answer = await call(api, token, { path: '/api/v1/credential?a=b', proof, headers: { host: 'evil.example' } });

    expect(answer.status).toBe(200);
  });

  test('not for the host that the request names instead of ours', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token, claims: { htu: 'http://evil.example/api/v1/credential' } });
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };

    expectRefused(await call(api, token, { proof, headers }), 'invalid_dpop_proof');
  });

  test('for its own method', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = (htm: string) => aProof({ key, token, claims: { htm, htu: `${BASE_URL}/api/v1/teams` } });
    const team = { method: 'POST', path: '/api/v1/teams', body: '{}', headers: { 'content-type': 'application/json' } };

    expectRefused(await call(api, token, { ...team, proof: await proof('GET') }), 'invalid_dpop_proof');
    expect(await call(api, token, { ...team, proof: await proof('POST') })).toBeProblem('scope_missing');
  });

  test('for a path with codes in it, in either case', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = (path: string) => aProof({ key, token, claims: { htu: `${BASE_URL}${path}` } });

    for (const [sent, proven] of [
      ['/api/v1/teams/%c3%a9', '/api/v1/teams/%C3%A9'],
      ['/api/v1/teams/%C3%A9', '/api/v1/teams/é'],
      ['/api/v1/teams/%7Ea', '/api/v1/teams/~a'],
    ] as const) {
      expect(await call(api, token, { path: sent, proof: await proof(proven) })).toBeProblem('team_not_found');
    }
    expectRefused(
      await call(api, token, { path: '/api/v1/teams/a%2Fb', proof: await proof('/api/v1/teams/a/b') }),
      'invalid_dpop_proof',
    );
  });
});

describe('a proof is used once', () => {
  test('and rejected when it is sent again, also for the same request', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token });

    expect((await call(api, token, { proof })).status).toBe(200);
    expectRefused(await call(api, token, { proof }), 'invalid_dpop_proof');
  });

  test('by its id: another one with the same id is rejected', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const jti = randomUUID();

    const path = '/api/v1/teams';
    expect((await call(api, token, { proof: await aProof({ key, token, claims: { jti } }) })).status).toBe(200);
    const again = await aProof({ key, token, claims: { jti, htu: BASE_URL + path } });
    expectRefused(await call(api, token, { path, proof: again }), 'invalid_dpop_proof');
  });

  // Guarantees that an attacker cannot block another client by using its ids first.
  test('by its key: another client may use the same id', async ({ api }) => {
    const one = await aBoundToken(api);
    const other = await aBoundToken(api);
    const claims = { jti: '1' };

    expect((await call(api, one.token, { proof: await aProof({ ...one, claims }) })).status).toBe(200);
    expect((await call(api, other.token, { proof: await aProof({ ...other, claims }) })).status).toBe(200);
  });

  test('and not consumed by a request that is rejected', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token });

    expectRefused(await call(api, token, { proof, path: '/api/v1/me' }), 'invalid_dpop_proof');
    expect((await call(api, token, { proof })).status).toBe(200);
  });

  // Guarantees that a proof cannot be repeated as long as its time lets it pass: from five minutes before until five minutes after.
  test('and rejected until it has expired', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token, claims: { iat: now() + 300 } });
    expect((await call(api, token, { proof })).status).toBe(200);

    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    for (const seconds of [2, 298, 300]) {
      vi.advanceTimersByTime(seconds * 1000);
      expectRefused(await call(api, token, { proof }), 'invalid_dpop_proof');
    }
    // Another proof of the same age is accepted, so the rejection was not due to its age.
    const other = await aProof({ key, token, claims: { iat: now() - 300 } });
    expect((await call(api, token, { proof: other })).status).toBe(200);
  });

  test('also of many concurrent requests', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token });

    const answers = await Promise.all(Array.from({ length: 8 }, () => call(api, token, { proof })));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('the time of a proof', () => {
  const CLOCK = 'differ by more than 300 seconds. Check the clock of the client.';
  const frozen = () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
  };

  const resources: readonly (readonly [method: string, path: string, accepted: string | undefined])[] = [
    ['GET', '/api/v1/credential', undefined],
    ['GET', '/trpc/getCredential', undefined],
    ['POST', '/mcp', undefined],
    ['GET', '/oauth/userinfo', 'scope_missing'],
  ];
  test.for(resources)('is within 300 s of the clock at %s %s', async ([method, path, accepted], { api }) => {
    const { grant, key, token } = await aBoundToken(api);
    if (path === '/mcp') await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [grant.id]);
    const body = method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) : undefined;
    frozen();
    const send = async (seconds: number) => {
      const claims = { htm: method, htu: BASE_URL + path, iat: now() + seconds };
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const proof = await aProof({ key, token, claims });
      const answer = await call(api, token, { method, path, proof, headers, ...(body !== undefined && { body }) });
      return answer.body?.error?.data?.problem ?? answer.body;
    };

    for (const seconds of [-299, 299]) expect((await send(seconds)).code).toBe(accepted);
    for (const seconds of [-301, 301]) {
      expect(await send(seconds)).toMatchObject({
        code: 'credential_invalid',
        detail: expect.stringContaining(CLOCK) as string,
      });
    }
  });

  test('is within 300 s of the clock at the token endpoint, where a proof is remembered for 11 minutes', async ({
    api,
  }) => {
    const key = await aKey();
    const { client, code, verifier } = await aCode(api);
    frozen();
    const proofOf = (iat: number) =>
      aProof({ key, token: '', claims: { htm: 'POST', htu: `${BASE_URL}/oauth/token`, iat, ath: undefined } });
    const form = { client_id: client.id, grant_type: 'authorization_code', code, code_verifier: verifier };
    const exchange = (dpop: string) => postForm(api, '/oauth/token', form, { dpop });

    for (const seconds of [-301, 301]) {
      expect((await exchange(await proofOf(now() + seconds))).body).toEqual({
        error: 'invalid_dpop_proof',
        error_description: expect.stringContaining(CLOCK) as string,
      });
    }
    const proof = await proofOf(now() - 299);
    expect((await exchange(proof)).body).toMatchObject({ token_type: 'DPoP' });
    const remembered = await api.rows(
      `select from oauth_artifact where model = 'ReplayDetection'
       and expires_at between now() + interval '10 min' and now() + interval '11 min'`,
    );
    expect(remembered).toHaveLength(1);
    const next = await aCode(api, { client });
    const again = { ...form, code: next.code, code_verifier: next.verifier };
    expect((await postForm(api, '/oauth/token', again, { dpop: proof })).body.error).toBe('invalid_grant');
  });

  test('is within 300 s of the clock for pushed requests', async ({ api }) => {
    const key = await aKey();
    const client = await api.anOAuthClient();
    frozen();
    const push = async (seconds: number) => {
      const claims = { htm: 'POST', htu: `${BASE_URL}/oauth/par`, iat: now() + seconds, ath: undefined };
      const dpop = await aProof({ key, token: '', claims });
      return postForm(api, '/oauth/par', goodRequest(client, aProofKey().challenge, ['teams:read']), { dpop });
    };

    for (const seconds of [-299, 299]) expect((await push(seconds)).status).toBe(201);
    for (const seconds of [-301, 301]) expect((await push(seconds)).body.error_description).toContain(CLOCK);
  });
});

describe('over tRPC', () => {
  const path = '/trpc/getCredential';

  test('a bound token is accepted with a proof for the path of the procedure', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token, claims: { htu: BASE_URL + path } });

    const answer = await call(api, token, { path: `${path}?input=%7B%7D`, proof });

    expect(answer.status).toBe(200);
    expect(answer.body.result.data).toMatchObject({ kind: 'oauth-grant', scopes: ['teams:read'] });
  });

  test('one proof serves a batch', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const batch = `${path},getCredential`;
    const proof = await aProof({ key, token, claims: { htu: BASE_URL + batch } });

    expect((await call(api, token, { path: `${batch}?batch=1`, proof })).status).toBe(200);
  });

  test('a bound token is rejected as a bearer token, and with a proof for the API', async ({ api }) => {
    const { key, token } = await aBoundToken(api);
    const proof = await aProof({ key, token });

    for (const answer of [
      await call(api, token, { path, scheme: 'Bearer' }),
      await call(api, token, { path, proof }),
    ]) {
      expect(answer.status).toBe(401);
      expect(answer.body.error.data.problem.code).toBe('credential_invalid');
    }
  });
});

describe('an application in pages that is first-party', () => {
  test('gets tokens that are bound to its key, and refreshes them with it alone', async ({ api }) => {
    const scene = await aFirstParty(api, { confidential: false, redirectUri: `${FRONTEND}/callback` });
    const [key, other] = [await aKey(), await aKey()];
    const proofOf = (of: Key) =>
      aProof({ key: of, token: '', claims: { htm: 'POST', htu: `${BASE_URL}/oauth/token`, ath: undefined } });
    const ask = async (form: Record<string, string>, of?: Key) =>
      postForm(api, '/oauth/token', { client_id: scene.client.id, ...form }, of && { dpop: await proofOf(of) });
    const { verifier, challenge } = aProofKey();
    const end = endOf(await authorize(api, scene.visitor, scene.client, challenge, { scope: 'openid teams:read' }));
    const { code = '' } = end as Record<string, string>;
    const { body } = await ask({ grant_type: 'authorization_code', code, code_verifier: verifier }, key);
    expect(body).toMatchObject({ token_type: 'DPoP', expires_in: 600, id_token: expect.any(String) });

    const { access_token: token, refresh_token: refreshToken } = body as Record<string, string>;
    expect(await api.as(token ?? '').get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect((await call(api, token ?? '', { proof: await aProof({ key, token: token ?? '' }) })).status).toBe(200);
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken ?? '' };
    expect([(await ask(form)).status, (await ask(form, other)).status]).toEqual([400, 400]);
    const next = await ask(form, key);
    expect(next.body).toMatchObject({ token_type: 'DPoP', refresh_token: expect.not.stringMatching(refreshToken!) });
    await scene.visitor.trpc.auth.signOut.mutate();
    const last = next.body.access_token as string;
    expectRefused(await call(api, last, { proof: await aProof({ key, token: last }) }), 'invalid_token');
  });
});

describe('clients learn of DPoP', () => {
  test('from a request without a credential', async ({ api }) => {
    const { headers } = await api.anonymous.get('/api/v1/credential');

    expect(headers['www-authenticate']).toBe(`Bearer ${METADATA}, DPoP ${ALGORITHMS}, ${METADATA}`);
  });

  test('in a browser, by the headers that another origin may send', async ({ api }) => {
    const ask = (path: string) => api.anonymous.send({ method: 'OPTIONS', path, headers: { origin: FRONTEND } });

    for (const { headers } of [await ask('/api/v1/credential'), await ask('/trpc/getCredential')]) {
      expect(headers['access-control-allow-headers']).toMatch(
        /^Authorization, Content-Type, (Idempotency-Key, )?X-Request-Id, DPoP$/,
      );
    }
  });

  test('while everybody else notices nothing', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount());

    expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
    expect((await call(api, key.secret, { scheme: 'Bearer', proof: 'anything' })).status).toBe(200);
    expect((await api.as('invented').get('/api/v1/credential')).headers['www-authenticate']).toBe(
      `Bearer error="invalid_token", ${METADATA}`,
    );
  });
});

describe('while it is switched off', () => {
  test('the scheme is rejected like any other, and no metadata names it', async ({ api }) => {
    const off = await startApi({}, api);
    onTestFinished(() => off.close());
    const { key, token } = await aBoundToken(api);

    const answers = [
      await call(off, token, { proof: await aProof({ key, token }) }),
      await call(off, token, { scheme: 'Basic' }),
      await off.as(token).get('/api/v1/credential'),
    ];
    for (const answer of answers) {
      expect(answer).toBeProblem('credential_invalid');
      expect(answer.headers['www-authenticate']).toBe(`Bearer error="invalid_token", ${METADATA}`);
    }

    const anonymous = await off.anonymous.get('/api/v1/credential');
    expect(anonymous.headers['www-authenticate']).toBe(`Bearer ${METADATA}`);
    const preflight = await off.anonymous.send({ method: 'OPTIONS', path: '/api/v1/credential' });
    expect(preflight.headers['access-control-allow-headers']).toBe(
      'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
    );
  });
});
