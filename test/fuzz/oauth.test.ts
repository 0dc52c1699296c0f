import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApi, testWith } from '../support/api.ts';
import type { Answer, Sent } from '../support/client.ts';
import { ENCODINGS, encodings } from './encodings.ts';
import { check, isRepetition } from './setting.ts';

const test = testWith(() => startApi({ OAUTH_REGISTRATION: 'on', OAUTH_DPOP: 'on', SIGN_IN_ADDRESS_LIMIT: '1000000' }));

const ENDPOINTS = [
  ['POST', '/oauth/token'],
  ['POST', '/oauth/revoke'],
  ['POST', '/oauth/introspect'],
  ['POST', '/oauth/par'],
  ['POST', '/oauth/register'],
  ['GET', '/oauth/authorize'],
  ['GET', '/oauth/authorize/x'],
  ['GET', '/.well-known/oauth-authorization-server'],
] as const;

const ODD = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '%',
  '[]',
  '{}',
  'null',
  '__proto__',
  'a'.repeat(3000),
  '🚀',
  '\r\nX: y',
  'x y',
  '-1',
  '[object Object]',
];

/** What clients send, with one of the right values each; `{…}` is filled in. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  client_id: ['{client}', '{confidential}', 'client_none', 'https://client.example/document'],
  client_secret: ['{secret}', 'wrong'],
  redirect_uri: ['https://client.example/callback', 'https://evil.example/', 'javascript:alert(1)'],
  response_type: ['code', 'token', 'code id_token'],
  response_mode: ['query', 'fragment', 'form_post', 'web_message'],
  scope: [ALL_SCOPES.join(' '), 'teams:read', 'openid', 'teams:read  teams:read'],
  state: ['x'],
  code_challenge: ['x'.repeat(43), 'x'],
  code_challenge_method: ['S256', 'plain'],
  code_verifier: ['x'.repeat(43)],
  grant_type: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'urn:x'],
  code: ['rst_ac_x'],
  refresh_token: ['rst_rt_x'],
  token: ['{access}', 'x'],
  token_type_hint: ['access_token', 'refresh_token', 'x'],
  resource: ['http://localhost:3000/api/v1', 'https://elsewhere.example', 'x'],
  request_uri: ['urn:ietf:params:oauth:request_uri:x', 'https://127.0.0.1/'],
  request: ['a.b.c'],
  prompt: ['none', 'consent', 'login', 'none login'],
  max_age: ['0', '1e400'],
  claims: ['{"id_token":null}', '{'],
  dpop_jkt: ['x'],
};

const parameter = fc
  .constantFrom(...Object.keys(PARAMETERS))
  .chain((name) =>
    fc.tuple(
      fc.oneof(
        { weight: 20, arbitrary: fc.constant(name) },
        { weight: 1, arbitrary: fc.constantFrom(`${name}[]`, `${name}[x]`, '__proto__', '') },
      ),
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...(PARAMETERS[name] ?? [''])) },
        { weight: 1, arbitrary: fc.constantFrom(...ODD) },
      ),
    ),
  );

const drafts = fc.record({
  endpoint: fc.constantFrom(...ENDPOINTS),
  method: fc.oneof(
    { weight: 15, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'TRACE', 'OPTIONS') },
  ),
  parameters: fc.array(parameter, { maxLength: 14, size: 'max' }),
  metadata: fc.jsonValue(),
  isWhole: fc.boolean(),
  type: fc.oneof(
    { weight: 10, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'application/json',
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/x-www-form-urlencoded; charset=utf-16',
      ),
    },
  ),
  authorization: fc.option(
    fc.constantFrom(
      'Basic {basic}',
      'Basic',
      'Basic %',
      'Basic Og==',
      'Bearer {access}',
      'DPoP x',
      'Basic JTAwOiV6eg==',
    ),
    { nil: undefined, freq: 3 },
  ),
  extra: fc.option(
    fc.constantFrom(
      ['origin', 'null'],
      ['origin', 'https://client.example'],
      ['dpop', 'a.b.c'],
      ['cookie', 'roster_authorization=x; roster_session_3000=%00'],
      ['host', 'a b/?'],
      ['content-encoding', 'gzip'],
    ),
    { nil: undefined, freq: 3 },
  ),
  encoding: encodings,
});

type Draft = typeof drafts extends fc.Arbitrary<infer Value> ? Value : never;

const PLAIN: Draft = {
  endpoint: ['GET', '/.well-known/oauth-authorization-server'],
  method: undefined,
  parameters: [],
  metadata: {},
  isWhole: false,
  type: undefined,
  authorization: undefined,
  extra: undefined,
  encoding: 'utf8',
};

/** A request for each status that has to be seen, so that requests get through and are denied at every step. */
const ON_PURPOSE: Readonly<Record<number, Draft>> = {
  200: PLAIN,
  201: { ...PLAIN, endpoint: ['POST', '/oauth/register'], isWhole: true, metadata: 'A client' },
  303: { ...PLAIN, endpoint: ['GET', '/oauth/authorize'], isWhole: true },
  400: { ...PLAIN, endpoint: ['GET', '/oauth/authorize'] },
  401: {
    ...PLAIN,
    endpoint: ['POST', '/oauth/token'],
    parameters: [
      ['grant_type', 'authorization_code'],
      ['client_id', '{confidential}'],
      ['client_secret', 'wrong'],
      ['code', 'rst_ac_x'],
    ],
  },
  405: { ...PLAIN, endpoint: ['POST', '/oauth/token'], method: 'PUT' },
};

function written(
  { endpoint: [own, path], method = own, parameters, metadata, isWhole, type, authorization, extra, encoding }: Draft,
  fill: (text: string) => string,
): Sent {
  const whole = isWhole
    ? [
        'client_id',
        'redirect_uri',
        'response_type',
        'scope',
        'code_challenge',
        'code_challenge_method',
        'grant_type',
        'code',
        'code_verifier',
      ].map((name) => [name, PARAMETERS[name]?.[0] ?? ''])
    : [];
  const form = new URLSearchParams(
    [...whole, ...parameters].map(([name = '', value = '']) => [name, fill(value)] as [string, string]),
  ).toString();
  const headers: Record<string, string> = {
    ...(authorization !== undefined && { authorization: fill(authorization) }),
    ...(extra !== undefined && { [extra[0] ?? '']: extra[1] ?? '' }),
  };
  if (method === 'GET' || method === 'HEAD') return { method, path: `${path}?${form.slice(0, 8000)}`, headers };
  const isRegistration = path === '/oauth/register';
  const about = { redirect_uris: ['https://client.example/callback'], token_endpoint_auth_method: 'none' };
  const odd = Object.fromEntries(parameters.map(([name, value]) => [name, value]));
  const text = isRegistration ? JSON.stringify(isWhole ? { ...about, ...odd, client_name: metadata } : metadata) : form;
  headers['content-type'] = type ?? (isRegistration ? 'application/json' : 'application/x-www-form-urlencoded');
  return { method, path, headers, body: ENCODINGS[encoding](text) };
}

function faultOf({ status, headers, text }: Answer): string | undefined {
  if (status >= 500) return 'a fault of ours';
  if (headers['x-request-id'] === undefined) return 'no request id';
  if (headers['access-control-allow-credentials'] !== undefined) return 'credentials across origins';
  if (/at \S+ \(|node_modules|\.ts:\d/.test(text)) return 'it tells about our code';
  const { location } = headers;
  if (
    location !== undefined &&
    // A form becomes a request by GET, which is answered as any other.
    !/^(?:https:\/\/client\.example\/callback[?]|(?:http:\/\/localhost:3000)?\/oauth\/consent\/|\/oauth\/authorize[?])/.test(
      location,
    )
  )
    return `it redirects to ${location}`;
  return undefined;
}

describe('/oauth', () => {
  test('answers every request, never with an internal error, and redirects only to registered URIs', async ({
    api,
  }) => {
    const account = await api.anAccount();
    const client = await api.anOAuthClient();
    const confidential = await api.anOAuthClient({ confidential: true });
    const { secret: access } = await api.aGrant(account, { client: confidential });
    const known: Record<string, string> = {
      client: client.id,
      confidential: confidential.id,
      secret: confidential.clientSecret ?? '',
      access,
      basic: Buffer.from(`${confidential.id}:${confidential.clientSecret}`).toString('base64'),
    };
    const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole);
    const statuses = new Set<number>();

    await check(
      fc.asyncProperty(drafts, async (draft) => {
        const sent = written(draft, fill);
        const answer = await api.anonymous.send(sent);
        const fault = faultOf(answer);
        if (fault !== undefined)
          throw new Error(
            `${sent.method} ${sent.path} → ${answer.status}: ${fault}\n${String(sent.body)}\n${answer.text.slice(0, 1000)}`,
          );
        statuses.add(answer.status);
      }),
      2500,
      Object.values(ON_PURPOSE).map((draft): [Draft] => [draft]),
    );
    expect([...statuses]).toEqual(
      isRepetition ? expect.anything() : expect.arrayContaining(Object.keys(ON_PURPOSE).map(Number)),
    );
  });
});
