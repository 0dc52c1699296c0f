import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

async function aCaller(api: Api) {
  const account = await api.anAccount();
  const [team, key] = await Promise.all([api.aTeam({ owner: account }), api.anApiKey(account, { scopes: ALL_SCOPES })]);
  return { account, team, key, caller: api.as(key) };
}

const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))];
const methodsOf = (path: string) =>
  OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method as string);
const allowOf = (path: string) =>
  [...methodsOf(path), ...(methodsOf(path).includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted();
const listOf = (header: string | undefined) => (header ?? '').split(', ').toSorted();
/** The path with something in the place of each id. */
const concrete = (path: string) => path.replaceAll(/\{\w+\}/g, 'x');

describe('the method', () => {
  const wrong = PATHS.map((path) => ({
    path,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'].filter(
      (method) => !allowOf(path).includes(method),
    ),
  }));

  test.for(wrong)('$path has no others than its own', async ({ path, methods }, { api }) => {
    const { caller } = await aCaller(api);

    for (const method of methods) {
      const answers = [
        await caller.send({ method, path: concrete(path) }),
        await api.anonymous.send({ method, path: `${concrete(path)}/` }),
      ];
      expect(answers.map(({ status, headers }) => [method, status, listOf(headers.allow)])).toEqual(
        [1, 2].map(() => [method, 405, allowOf(path)]),
      );
      if (method !== 'HEAD') expect(answers[0]).toBeProblem('method_not_allowed');
    }
  });

  test('cannot be overridden by a header or the query', async ({ api }) => {
    const { caller, team } = await aCaller(api);
    const headers = { 'x-http-method-override': 'PATCH', 'x-http-method': 'PATCH', 'content-type': 'application/json' };

    const answer = await caller.send({
      method: 'GET',
      path: `/api/v1/teams/${team.id}?_method=PATCH`,
      headers,
      body: '{"name":"After"}',
    });

    expect(answer.body.name).toBe(team.name);
  });

  test.for(PATHS.filter((path) => methodsOf(path).includes('GET')))(
    'HEAD %s answers like GET, without the body',
    async (path, { api }) => {
      const { caller, team } = await aCaller(api);
      const own = ['x-request-id', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit', 'date'];
      const comparable = ({ status, headers }: Answer) => [
        status,
        Object.entries(headers).filter(([name]) => !own.includes(name)),
      ];

      for (const [client, target] of [
        [caller, path.replace('{teamId}', team.id)],
        [caller, concrete(path)],
        [api.anonymous, concrete(path)],
      ] as const) {
        const get = await client.get(target);
        const head = await client.send({ method: 'HEAD', path: target });
        expect(comparable(head)).toEqual(comparable(get));
        expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
        expect(head.text).toBe('');
      }
    },
  );

  test.for(PATHS)('OPTIONS %s answers for CORS, without a credential', async (path, { api }) => {
    const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };

    const answer = await api.anonymous.send({ method: 'OPTIONS', path: concrete(path), headers });

    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(listOf(answer.headers.allow)).toEqual(allowOf(path));
    expect(listOf(answer.headers['access-control-allow-methods'])).toEqual(expect.arrayContaining(methodsOf(path)));
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': expect.stringMatching(/Authorization.*Content-Type/),
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('OPTIONS is not charged, to a key as little as to the address', async ({ api }) => {
    const { caller } = await aCaller(api);
    const remaining = async (client: typeof caller, method: string) =>
      Number((await client.send({ method, path: '/api/v1/teams' })).headers['ratelimit-remaining']);

    const key = await remaining(caller, 'GET');
    const address = await remaining(api.anonymous, 'GET');
    for (let i = 0; i < 5; i++) await remaining(i % 2 ? caller : api.anonymous, 'OPTIONS');

    expect(await remaining(caller, 'GET')).toBe(key - 1);
    expect(await remaining(api.anonymous, 'OPTIONS')).toBe(address);
    expect(await remaining(api.anonymous, 'GET')).toBe(address - 1);
  });
});
