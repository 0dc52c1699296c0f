import { connect } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { Answer, Sent } from '../support/client.ts';

// Behind https, where HSTS belongs.
const BASE_URL = 'https://roster.example';
const test = testWith(() => startApi({ BASE_URL }));

type Kind = {
  readonly send: (api: Api) => Promise<Answer>;
  readonly status: number;
  readonly is: 'private' | 'public' | 'page';
};

const plain =
  (path: string, more: Partial<Sent> = {}) =>
  (api: Api) =>
    api.anonymous.send({ method: 'GET', path, ...more });
const posted = (path: string, headers: Record<string, string>, body: string) =>
  plain(path, { method: 'POST', headers, body });
const asKey = (path: string) => async (api: Api) =>
  api.as(await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] })).get(path);
const html = { headers: { accept: 'text/html' } };
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** A request as an application makes it, which leads to the consent page. */
async function authorize(api: Api): Promise<Answer> {
  const { id, redirectUri } = await api.anOAuthClient();
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'teams:read',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  return plain(`/oauth/authorize?${query.toString()}`)(api);
}

/** The address of the first file of a kind that a page loads. */
const linked = (page: string, ending: string) => async (api: Api) => {
  const { text } = await plain(page, html)(api);
  const path = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)]
    .map(([, url = '']) => url)
    .find((url) => url.endsWith(ending));
  return plain(path ?? '/no-such-file')(api);
};

/** What Node refuses by itself. */
const unparsed = (api: Api): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(api.port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
    socket.on('error', reject).on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const [status = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.split(/: (.*)/)[1] ?? '']),
      );
      resolve({ status: Number(status.split(' ')[1]), headers, body: JSON.parse(body), text: body });
    });
  });

const KINDS: Readonly<Record<string, Kind>> = {
  'an answer of the API': { send: asKey('/api/v1/teams'), status: 200, is: 'private' },
  'a refusal of the API': { send: plain('/api/v1/teams'), status: 401, is: 'private' },
  'an unknown path of the API': { send: plain('/api/v1/nothing'), status: 404, is: 'private' },
  'a wrong method of the API': { send: plain('/api/v1/teams', { method: 'PUT' }), status: 405, is: 'private' },
  'the OpenAPI document': { send: plain('/api/v1/openapi.json'), status: 200, is: 'public' },
  'what is no HTTP': { send: unparsed, status: 400, is: 'private' },
  'an answer over tRPC': { send: asKey('/trpc/listTeams'), status: 200, is: 'private' },
  'a refusal over tRPC': { send: plain('/trpc/listTeams'), status: 401, is: 'private' },
  'an unknown procedure': { send: plain('/trpc/nothing'), status: 404, is: 'private' },
  'a wrong method over tRPC': { send: plain('/trpc/listTeams', { method: 'TRACE' }), status: 405, is: 'private' },
  'a batch that is too long': { send: plain(`/trpc/${'getMe,'.repeat(30)}?batch=1`), status: 400, is: 'private' },
  'a call of another site': { send: posted('/trpc/updateMe', json, '{}'), status: 403, is: 'private' },
  'a refused token request': { send: posted('/oauth/token', form, 'a=b'), status: 400, is: 'private' },
  'a token request of another type': { send: posted('/oauth/token', json, '{}'), status: 400, is: 'private' },
  'a refused revocation': { send: posted('/oauth/revoke', form, 'a=b'), status: 400, is: 'private' },
  'a refused pushed request': { send: posted('/oauth/par', form, 'a=b'), status: 400, is: 'private' },
  'a wrong method of OAuth': { send: plain('/oauth/token'), status: 405, is: 'private' },
  'the redirect to the consent page': { send: authorize, status: 303, is: 'private' },
  'a refused authorization': { send: plain('/oauth/authorize?client_id=x', html), status: 400, is: 'page' },
  'the metadata of the server': { send: plain('/.well-known/oauth-authorization-server'), status: 200, is: 'public' },
  'the metadata of the API': { send: plain('/.well-known/oauth-protected-resource/api/v1'), status: 200, is: 'public' },
  'the console': { send: plain('/', html), status: 200, is: 'page' },
  'an unknown page': { send: plain('/nothing', html), status: 404, is: 'page' },
  'an unknown path': { send: plain('/nothing'), status: 404, is: 'private' },
  'a path that does not decode': { send: plain('/oauth/authorize/%zz'), status: 400, is: 'private' },
  'the reference': { send: plain('/docs', html), status: 200, is: 'page' },
  'a script of the reference': { send: linked('/docs', '.js'), status: 200, is: 'public' },
  'the list of procedures': { send: plain('/docs/procedures', html), status: 200, is: 'page' },
  'a problem explained': { send: plain('/problems/scope-missing', html), status: 200, is: 'page' },
  'its style': { send: linked('/problems', '.css'), status: 200, is: 'public' },
  'a health check': { send: plain('/healthz'), status: 200, is: 'public' },
  'a readiness check': { send: plain('/readyz'), status: 200, is: 'public' },
};

/** The sources of each directive of a policy. */
const directives = (policy: unknown): Map<string, string> =>
  new Map(
    String(policy)
      .split(';')
      .map((part) => part.trim().split(/ (.*)/s, 2) as [string, string]),
  ); // a name and sources

// OWASP ASVS 5.0, section V3.4, and what it says of caches (14.3.2) and versions (13.4.6).
describe.for(Object.entries(KINDS))('%s', ([, { send, status, is }]) => {
  test('carries the headers that browsers need', async ({ api }) => {
    const answer = await send(api);
    const { headers } = answer;

    expect(answer.status, answer.text.slice(0, 300)).toBe(status);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
    const policy = directives(headers['content-security-policy']);
    expect(policy.get('frame-ancestors')).toBe("'none'");
    expect(policy.get('default-src')).toBe("'none'");
    expect([...policy.values()].join()).not.toMatch(/unsafe-eval|(?:^|[ ,])(?:\*|http:)/);
    expect(policy.get('script-src') ?? "'none'").not.toMatch(/unsafe-inline|https:/);
    for (const name of ['server', 'x-powered-by', 'x-runtime', 'via']) expect(headers).not.toHaveProperty(name);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    if (answer.text !== '') expect(headers['content-type']).toBeDefined();
    if (is !== 'public')
      expect(headers['cache-control']).toMatch(is === 'page' ? /^no-(?:store|cache)|max-age/ : /\bno-store\b/);
    if (is !== 'page') return;
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(policy.get('base-uri')).toBe("'none'");
    expect(policy.has('form-action')).toBe(true);
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
  });
});

test('responses to signed-in users are not stored', async ({ api }) => {
  const { cookies, headers } = await signedIn(api, await api.anAccount());
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  const answer = await plain('/trpc/getMe', { headers: { ...headers, cookie } })(api);

  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
});

// RFC 6797, section 8.3: the policy holds for all ports of a host.
test.for([
  ['https://roster.example', undefined, 'max-age=31536000'],
  ['https://roster.example:8443', undefined, undefined],
  ['https://roster.example:8443', 'host', 'max-age=31536000'],
  ['https://roster.example', 'subdomains', 'max-age=31536000; includeSubDomains'],
  ['https://roster.example', 'off', 'max-age=0'],
  ['http://localhost:3000', 'subdomains', undefined],
] as const)('at %s with HSTS=%s browsers are told %s, by every interface', async ([baseUrl, scope, header]) => {
  const other = await startApi({ BASE_URL: baseUrl, ...(scope !== undefined && { HSTS: scope }) });
  onTestFinished(() => other.close());

  for (const path of ['/', '/api/v1/teams', '/operator/v1/accounts', '/trpc/getMe', '/healthz', '/oauth/authorize'])
    expect((await plain(path)(other)).headers['strict-transport-security'], path).toBe(header);
});

describe('the opener of a window', () => {
  test.for([
    '/oauth/authorize?client_id=x',
    '/oauth/authorize/none',
    '/oauth/consent/none',
    '/sign-in?next=%2Foauth%2Fconsent%2Fx',
    '/sign-up?next=%2Foauth%2Fconsent%2Fx&lang=de',
    '/check-email?next=%2Foauth%2Fconsent%2Fx',
  ])('stays in reach of %s, where an application waits for it', async (path, { api }) => {
    expect((await plain(path, html)(api)).headers).not.toHaveProperty('cross-origin-opener-policy');
  });

  test.for([
    '/',
    '/sign-in',
    '/sign-in?next=%2Fteams',
    '/sign-in?next=https%3A%2F%2Fevil.example%2Foauth%2F',
    '/teams?next=%2Foauth%2Fconsent%2Fx',
    '/oauth/consents',
    '/docs',
  ])('is out of reach of %s', async (path, { api }) => {
    expect((await plain(path, html)(api)).headers['cross-origin-opener-policy']).toBe('same-origin');
  });
});
