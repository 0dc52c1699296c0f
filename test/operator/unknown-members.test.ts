import { describe, expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { aRequest, OPERATIONS, type Operation } from './operations.ts';

/** Misspelt, and names that every object has. */
const UNKNOWN = ['limt', 'constructor', 'toString', '__proto__', 'a/b'] as const;
const POINTERS = UNKNOWN.map((name) => `/${name.replace('/', '~1')}`);

const WITH_BODY = OPERATIONS.filter(({ hasBody }) => hasBody);
const WITH_QUERY = OPERATIONS.filter(({ route }) => route.queryParams.length > 0);
const IN_TRPC = OPERATIONS.filter(({ route }) => route.meta.upload === undefined);

const byId = (operations: readonly Operation[]) => operations.map((one) => [one.id, one] as const);

const test = testWith(() => startApi());

const send = async (api: Api, operation: Operation, { query = '', body }: { query?: string; body?: string }) => {
  const { secret } = await api.anOperatorKey();
  const sent = aRequest(operation, secret);
  return api.anonymous.send({ ...sent, path: sent.path + query, ...(body !== undefined && { body }) });
};

const errorsOf = ({ status, body }: Answer) => [status, body.code, body.errors];

const refused = (place: 'query' | 'body', allowed: readonly string[], pointers: readonly string[] = POINTERS) => [
  400,
  'validation_failed',
  pointers.map((pointer) => ({ in: place, pointer, code: 'invalid_value', params: { allowed: allowed.join(', ') } })),
];

const withUnknownMembers = (json: string) =>
  `{${[...UNKNOWN.map((name) => `${JSON.stringify(name)}:{"x":1}`), JSON.stringify(JSON.parse(json)).slice(1, -1)]
    .filter(Boolean)
    .join(',')}}`;

describe('each operation of the operator API refuses what it does not have, and names what it has', () => {
  test('all of them', () => {
    expect(OPERATIONS.length).toBeGreaterThan(40);
    expect(WITH_BODY.length).toBeGreaterThan(12);
    expect(WITH_QUERY.length).toBeGreaterThan(5);
  });

  test.for(byId(OPERATIONS))('%s: query parameters', async ([, operation], { api }) => {
    const query = UNKNOWN.map((name) => `${encodeURIComponent(name)}=1`).join('&');
    const { queryParams } = operation.route;
    expect(errorsOf(await send(api, operation, { query: `?${query}&limt=2` }))).toEqual(refused('query', queryParams));
    expect(errorsOf(await send(api, operation, { query: '?x' }))).toEqual(refused('query', queryParams, ['/x']));
    for (const harmless of ['?', '?&&'])
      expect((await send(api, operation, { query: harmless })).body.errors ?? []).not.toContainEqual(
        expect.objectContaining({ in: 'query' }),
      );
  });

  test.for(byId(WITH_BODY))('%s: members of the body', async ([, operation], { api }) => {
    const { pathParams, input } = operation.route;
    const body = withUnknownMembers(String(aRequest(operation, null).body));
    const members = Object.keys(input?.shape ?? {}).filter((name) => !pathParams.includes(name));
    expect(errorsOf(await send(api, operation, { body }))).toEqual(refused('body', members));
  });

  test.for(byId(WITH_BODY))('%s: members of its body are no query parameters', async ([, operation], { api }) => {
    const sent = aRequest(operation, null);
    const [name = ''] = Object.keys(JSON.parse(String(sent.body)));
    expect(errorsOf(await send(api, operation, { query: `?${name}=x` }))).toEqual(refused('query', [], [`/${name}`]));
  });

  test.for(byId(WITH_QUERY))('%s: repeated and empty parameters', async ([, operation], { api }) => {
    const { queryParams } = operation.route;
    for (const name of queryParams)
      for (const query of [`?${name}=1&${name}=1`, `?${name}=`, `?${name}`, `?${name}=&${name}=`])
        expect([query, await send(api, operation, { query })]).toEqual([
          query,
          expect.objectContaining({
            status: 400,
            body: expect.objectContaining({
              errors: [expect.objectContaining({ in: 'query', pointer: `/${name}` })],
            }),
          }),
        ]);
  });

  test.for(byId(IN_TRPC))('%s: members of its input over tRPC', async ([, operation], { api }) => {
    const { pathParams, meta } = operation.route;
    const example = JSON.stringify({
      ...Object.fromEntries(pathParams.map((name) => [name, 'unknown'])),
      ...((meta.example?.body ?? {}) as object),
    });
    const input = withUnknownMembers(example);
    const isQuery = operation.method === 'GET';
    const { secret } = await api.anOperatorKey();
    const answer = await api.as(secret).send({
      method: isQuery ? 'GET' : 'POST',
      path: `/trpc/operatorApi.${operation.id}${isQuery ? `?input=${encodeURIComponent(input)}` : ''}`,
      headers: { 'content-type': 'application/json' },
      ...(!isQuery && { body: input }),
    });
    const { problem } = answer.body.error.data;
    const members = Object.keys(operation.route.input?.shape ?? {});
    expect([answer.status, problem.code, problem.errors]).toEqual(refused('body', members));
  });
});

test('unknown parameters and members are reported together with all other faults', async ({ api }) => {
  const create = OPERATIONS.find(({ id }) => id === 'createAccount')!;
  const { secret } = await api.anOperatorKey();
  const sent = aRequest(create, secret);
  const answer = await api.anonymous.send({
    ...sent,
    path: `${sent.path}?notify=false`,
    headers: { ...sent.headers, 'idempotency-key': '' },
    body: '{"mail":"ada@example.com"}',
  });
  expect(answer).toBeProblem('validation_failed');
  expect(answer.body.errors.map((entry: { in: string; pointer: string }) => [entry.in, entry.pointer])).toEqual([
    ['query', '/notify'],
    ['header', '/Idempotency-Key'],
    ['body', '/mail'],
    ['body', '/email'],
  ]);
});

test('at most 20 unknown members are reported, and that there are more', async ({ api }) => {
  const names = Array.from({ length: 300 }, (_, i) => `x${i}`);
  const list = OPERATIONS.find(({ id }) => id === 'listAccounts')!;
  const expectMany = ({ body: { errors, detail } }: Answer) => {
    expect(errors).toHaveLength(20);
    expect(detail).toMatch(/ Only the first 20 faults are in `errors`\.$/);
  };
  expectMany(await send(api, list, { query: `?${names.join('&')}` }));
  const create = OPERATIONS.find(({ id }) => id === 'createTeam')!;
  const body = JSON.stringify({
    ...JSON.parse(String(aRequest(create, null).body)),
    ...Object.fromEntries(names.map((name) => [name, 1])),
  });
  expectMany(await send(api, create, { body }));
});

test('a request that is refused changes nothing', async ({ api }) => {
  const team = await api.aTeam();
  const operator = api.as(await api.anOperatorKey());
  expect(await operator.delete(`/operator/v1/teams/${team.id}?dryRun=true`)).toBeProblem('validation_failed');
  expect(await operator.get(`/operator/v1/teams/${team.id}`)).toMatchObject({ status: 200 });
});

test('hooks for infinite lists can add `direction` to a query over tRPC', async ({ api }) => {
  const operator = api.as(await api.anOperatorKey());
  const input = encodeURIComponent('{"limit":1,"direction":"forward"}');
  expect(await operator.get(`/trpc/operatorApi.listTeams?input=${input}`)).toMatchObject({ status: 200 });
  expect(await operator.get('/operator/v1/teams?limit=1&direction=forward')).toBeProblem('validation_failed');
});

test('without access, nobody learns what an operation has', async ({ api }) => {
  expect(await api.anonymous.get('/operator/v1/teams?limt=1')).toBeProblem('credential_missing');
  const stranger = api.as(await api.anOperatorKey({ scopes: ['events:read'] }));
  expect(await stranger.get('/operator/v1/teams?limt=1')).toBeProblem('scope_missing');
});

test('/api/v1 ignores unknown query parameters and members', async ({ api }) => {
  const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read', 'teams:write'] });
  expect(await api.as(key).get('/api/v1/teams?limt=1&__proto__=1')).toMatchObject({ status: 200 });
  expect(await api.as(key).post('/api/v1/teams', { name: 'Engines', colour: 'red' })).toMatchObject({ status: 201 });
});
