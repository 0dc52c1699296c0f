import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';

async function aKey(api: Api) {
  const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });
  return { authorization: `Bearer ${secret}` };
}

const get = (api: Api, path: string, headers: Record<string, string>, method = 'GET') =>
  api.anonymous.send({ method, path, headers });

describe('a request to /trpc that tRPC itself cannot take', () => {
  // Guarantees that no spelling of a path makes calls cheaper.
  test.for([
    ['commas', ','],
    ['encoded commas', '%2C'],
    ['encoded commas in small letters', '%2c'],
  ] as const)('is charged for each of its calls, between %s', async ([, comma], { api }) => {
    const headers = await aKey(api);
    const before = await get(api, '/trpc/listTeams', headers);

    const batch = await get(api, `/trpc/${Array(5).fill('listTeams').join(comma)}?batch=1&input=%7B%7D`, headers);

    expect(batch.body).toHaveLength(5);
    expect(Number(batch.headers['ratelimit-remaining'])).toBe(Number(before.headers['ratelimit-remaining']) - 5);
  });

  test.for(['TRACE', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])(
    'by %s is told which methods there are',
    async (method, { api }) => {
      const answer = await get(api, '/trpc/listTeams', await aKey(api), method);

      expect(answer).toBeProblem('method_not_allowed');
      expect(answer.headers.allow).toBe('GET, HEAD, POST, OPTIONS');
    },
  );

  test.for([
    ['more calls than a batch may have', `${Array(21).fill('listTeams').join()}?batch=1`, 'batch_too_large', 400],
    ['a path that does not decode', 'listTeams%zz', 'malformed_request', 400],
    ['a path of slashes', '//:99999', 'route_not_found', 404],
    ['a read and a change in one batch', 'listTeams,createTeam?batch=1', 'malformed_request', 400],
  ] as const)('gets a whole problem document: %s', async ([, path, code, status], { api }) => {
    const { status: found, headers, body } = await get(api, `/trpc/${path}`, await aKey(api));

    expect([found, headers['content-type']]).toEqual([status, 'application/json']);
    const [{ error }] = [body].flat();
    expect(error.data.problem).toMatchObject({
      type: `http://localhost:3000/problems/${code.replaceAll('_', '-')}`,
      code,
      requestId: headers['x-request-id'],
    });
  });

  test.for(['a b', 'x/y?z#', 'user@host:99999', '[::1', '%00'])(
    'names the host %s, and is answered all the same',
    async (host, { api }) => {
      expect((await get(api, '/trpc/listTeams', { ...(await aKey(api)), host })).status).toBe(200);
    },
  );

  test.for(['multipart/form-data; boundary=x', 'application/octet-stream', 'text/plain'])(
    'reads with the type %s, which says nothing of a read',
    async (type, { api }) => {
      expect((await get(api, '/trpc/listTeams', { ...(await aKey(api)), 'content-type': type })).status).toBe(200);
    },
  );
});
