import fc from 'fast-check';
import { expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import '../support/random.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import type { AClient } from '../support/factories.ts';
import { aProofKey, browse, goodRequest } from './flow.ts';
import { CONSENT_PAGE, expectOurPage } from './pages.ts';

const test = testWith(() =>
  startApi({ OAUTH_ADDRESS_LIMIT: '1000000', OAUTH_CLIENT_LIMIT: '1000000', RATE_LIMIT: '1000000' }),
);

const ISSUER = 'http://localhost:3000';
const RESOURCE = `${ISSUER}/api/v1`;
const { challenge } = aProofKey();

/** The clients of a run. `target` matches a registered URI and the separator behind it, and for loopback any port. */
const CLIENTS = [
  { options: {}, target: /^https:\/\/client\.example\/callback\?/ },
  { options: { confidential: true }, target: /^https:\/\/client\.example\/callback\?/ },
  {
    options: { redirectUri: 'https://client.example/callback?tenant=7&state=theirs' },
    target: /^https:\/\/client\.example\/callback\?tenant=7&state=theirs&/,
  },
  {
    options: { native: true, redirectUri: 'http://127.0.0.1/cb' },
    target: /^http:\/\/127\.0\.0\.1(?::\d{1,5})?\/cb\?/,
  },
  { options: { native: true, redirectUri: 'com.example.app:/cb' }, target: /^com\.example\.app:\/cb\?/ },
] as const;

const ODD = [
  '',
  ' ',
  '\0',
  '\ud800',
  '%',
  '%00',
  '{}',
  '__proto__',
  '\r\nLocation: https://evil.example',
  '🚀',
  '[object Object]',
];

/** Values that steer a request somewhere else, for each parameter; `{…}` is filled in. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  client_id: ['{other}', 'client_none', 'https://evil.example/client.json'],
  redirect_uri: [
    '{registered}',
    '{registered}/',
    '{registered}#',
    '{registered}?next=https://evil.example',
    ' {registered}',
    'http://127.0.0.1:7777/cb',
    'http://127.0.0.1:7777@evil.example/cb',
    'https://evil.example/callback',
    'https://client.example@evil.example/callback',
    'https://client.example\\.evil.example/callback',
    '//evil.example/callback',
    '/oauth/consent/x',
    'javascript:alert(1)',
    'data:text/html,x',
  ],
  response_type: ['code', 'token', 'code id_token', 'none'],
  response_mode: ['query', 'fragment', 'form_post', 'web_message', 'jwt', 'query.jwt'],
  scope: ['teams:read', 'openid teams:read', 'openid', 'teams:*', 'teams:read  teams:read'],
  state: ['x', 'theirs', 'a b&code=stolen#e', '&iss=https://evil.example'],
  code_challenge: [challenge, challenge.slice(1), 'x'.repeat(129)],
  code_challenge_method: ['S256', 'plain', 's256'],
  resource: [RESOURCE, `${ISSUER}/mcp`, 'https://evil.example/api/v1', 'x'],
  request: ['a.b.c', 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9.'],
  request_uri: ['urn:ietf:params:oauth:request_uri:x', 'https://evil.example/request', 'https://127.0.0.1/'],
  dpop_jkt: ['x'],
  scope_omitted: ['true'],
  prompt: ['none', 'consent', 'login', 'create'],
  max_age: ['0', '-1', '1e400'],
  claims: ['{', '{"id_token":null}'],
  id_token_hint: ['a.b.c'],
  registration: ['{"redirect_uris":["https://evil.example/callback"]}'],
  iss: ['https://evil.example'],
  error: ['x'],
};

type Parameter = readonly [name: string, value: string];

const parameters: fc.Arbitrary<Parameter> = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((name) =>
    fc.tuple(
      fc.oneof(
        { weight: 20, arbitrary: fc.constant(name) },
        { weight: 1, arbitrary: fc.constantFrom(`${name}[]`, name.toUpperCase(), `${name}\0`, '__proto__', '') },
      ),
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...(VALUES[name] ?? [])) },
        { weight: 1, arbitrary: fc.constantFrom(...ODD) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
      ),
    ),
  );

/** Changes of a good request: parameters to leave out, to replace, and to send besides. */
const drafts = fc.record({
  client: fc.nat({ max: CLIENTS.length - 1 }),
  omitted: fc.array(fc.constantFrom(...Object.keys(VALUES)), { maxLength: 2 }),
  replaced: fc.array(parameters, { maxLength: 4 }),
  added: fc.oneof({ weight: 3, arbitrary: fc.constant<Parameter[]>([]) }, fc.array(parameters, { maxLength: 2 })),
  isApproved: fc.boolean(),
  /** Text behind the encoded parameters, as it is. */
  raw: fc.oneof({ weight: 5, arbitrary: fc.constant('') }, fc.constantFrom('&', '&&=', '&%', '&state=%ff', '&a=%zz')),
});
type Draft = typeof drafts extends fc.Arbitrary<infer Value> ? Value : never;

const GOOD: Draft = { client: 0, omitted: [], replaced: [], added: [], isApproved: true, raw: '' };
/** One draft for each kind of answer, so that every run sees them all. */
const EXAMPLES: Draft[] = [
  GOOD,
  { ...GOOD, client: 1, isApproved: false },
  { ...GOOD, client: 2, replaced: [['state', 'theirs']] },
  { ...GOOD, client: 3, replaced: [['redirect_uri', 'http://127.0.0.1:7777/cb']] },
  { ...GOOD, omitted: ['code_challenge'] },
  { ...GOOD, replaced: [['redirect_uri', 'https://evil.example/callback']] },
];

/** Returns the parameters that a draft describes. */
function toParameters({ client, omitted, replaced, added }: Draft, clients: readonly AClient[]): Parameter[] {
  const own = clients[client]!;
  const fill = (value: string) =>
    value.replace('{registered}', own.redirectUri).replace('{other}', clients[(client + 1) % clients.length]!.id);
  const replacements = new Map(replaced);
  const good = { ...goodRequest(own, challenge, ['teams:read']), ...Object.fromEntries(replacements) };
  return [...Object.entries(good).filter(([name]) => !omitted.includes(name)), ...added].map(([name, value]) => [
    name,
    name === 'redirect_uri' || name === 'client_id' ? fill(value) : value,
  ]);
}

/** Encodes parameters as a form. Lone surrogates become U+FFFD, as in every browser. */
const encode = (sent: readonly Parameter[]): string => new URLSearchParams(sent.map(([...pair]) => pair)).toString();

/** What the answer to a request was; every run has to see all of them. */
type Outcome = 'approved' | 'denied' | 'error redirect' | 'our page' | 'push rejected';

/**
 * Checks a redirect: that it leads to a URI of the client, with the issuer and the state of the request, which is that
 * of the pushed request or, if what is beside the reference was rejected first, of the request with the reference.
 */
function expectRedirect(
  answer: Answer,
  form: URLSearchParams,
  clients: readonly AClient[],
  pushed = form,
): URLSearchParams {
  const { location = '' } = answer.headers;
  expect(answer.status, answer.text).toBe(303);
  expect(form.getAll('client_id')).toHaveLength(1);
  const client = clients.findIndex(({ id }) => id === form.get('client_id'));
  const [reached = ''] = CLIENTS[client]?.target.exec(location) ?? [];
  expect(reached, location).not.toBe('');
  expect(location).not.toMatch(/[#\s]/);
  const params = new URLSearchParams(location.slice(reached.length));
  const names = [...params.keys()];
  expect(new Set(names).size).toBe(names.length);
  expect(['code', 'error', 'error_description', 'iss', 'scope', 'state']).toEqual(expect.arrayContaining(names));
  expect(params.get('iss')).toBe(ISSUER);
  expect(params.get('error')).not.toBe('server_error');
  expect(params.has('code')).not.toBe(params.has('error'));
  const states = form.getAll('state');
  // A URI that was registered with the same state contains it already.
  const returned = new URL(location).searchParams.getAll('state');
  if (states.length === 1 && states[0] !== '')
    expect([...states, ...pushed.getAll('state')]).toContain(returned.at(-1));
  return params;
}

type Visit = {
  readonly api: Api;
  readonly visitor: Visitor;
  readonly clients: readonly AClient[];
};

/**
 * Opens an authorization request, answers the consent page if there is one, and checks where it ends.
 * @param pushed the parameters that the request refers to, if they were pushed
 */
async function follow(
  { api, visitor, clients }: Visit,
  query: string,
  isApproved: boolean,
  pushed?: URLSearchParams,
): Promise<Outcome> {
  const sent = new URLSearchParams(query);
  const answer = await browse(api, visitor)(`/oauth/authorize?${query}`);
  const [, id] = CONSENT_PAGE.exec(answer.headers.location ?? '') ?? [];
  if (id !== undefined) {
    const { authorizations } = visitor.trpc;
    const { account, scopes } = await authorizations.read.query({ id });
    const { redirectTo } = isApproved
      ? await authorizations.approve.mutate({ id, accountId: account.id, teamId: null, scopes })
      : await authorizations.deny.mutate({ id });
    const last = await browse(api, visitor)(new URL(redirectTo).pathname);
    expect(expectRedirect(last, pushed ?? sent, clients).get('error')).toBe(isApproved ? null : 'access_denied');
    return isApproved ? 'approved' : 'denied';
  }
  if (answer.headers.location !== undefined) {
    expect(expectRedirect(answer, sent, clients, pushed).has('code')).toBe(false);
    return 'error redirect';
  }
  expectOurPage(answer, /<code><bdi>([a-z_]+)<\/bdi><\/code>/.exec(answer.text)?.[1] ?? 'none');
  return 'our page';
}

/** Runs a property with clients and a signed-in browser. @returns the outcomes that it saw */
async function run(api: Api, request: (draft: Draft, visit: Visit) => Promise<Outcome>): Promise<Set<Outcome>> {
  const seen = new Set<Outcome>();
  const clients = await Promise.all(CLIENTS.map(({ options }) => api.anOAuthClient(options)));
  const visitor = await signedIn(api, await api.anAccount());
  await fc.assert(
    fc.asyncProperty(drafts, async (draft) => void seen.add(await request(draft, { api, visitor, clients }))),
    { numRuns: 150, examples: EXAMPLES.map((draft) => [draft]) },
  );
  return seen;
}

test('whatever its parameters, an authorization request ends at its client or on our page', async ({ api }) => {
  const seen = await run(api, (draft, visit) =>
    follow(visit, encode(toParameters(draft, visit.clients)) + draft.raw, draft.isApproved),
  );

  expect([...seen].toSorted()).toEqual(['approved', 'denied', 'error redirect', 'our page']);
});

// Guarantees also that parameters beside the reference to a pushed request do not change it.
test('whatever its parameters, a pushed request is rejected or ends at its client', async ({ api }) => {
  const seen = await run(api, async (draft, visit) => {
    const { clientSecret, id } = visit.clients[draft.client]!;
    const secret: Parameter[] = clientSecret === null ? [] : [['client_secret', clientSecret]];
    const form = encode([...toParameters({ ...draft, added: [] }, visit.clients), ...secret]) + draft.raw;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await api.anonymous.send({ method: 'POST', path: '/oauth/par', headers, body: form });
    expect(answer.headers).not.toHaveProperty('location');
    if (answer.status !== 201) {
      expect([400, 401], answer.text).toContain(answer.status);
      expect(answer.body.error).toEqual(expect.stringMatching(/^[a-z_]+$/));
      return 'push rejected';
    }
    const beside = draft.added.filter(([name]) => name !== 'client_id' && name !== 'request_uri');
    const reference: Parameter[] = [['client_id', id], ['request_uri', answer.body.request_uri as string], ...beside];
    return follow(visit, encode(reference), draft.isApproved, new URLSearchParams(form));
  });

  expect([...seen]).toEqual(expect.arrayContaining(['approved', 'denied', 'push rejected']));
});
