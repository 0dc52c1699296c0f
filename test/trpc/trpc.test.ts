import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client';
import { describe, expect } from 'vitest';
import type { AppRouter } from '../../src/router.ts';
import { KINDS } from '../rest/kinds.ts';
import { test, type Api } from '../support/api.ts';

const client = (api: Api, key: { secret: string } | null, link: typeof httpLink | typeof httpBatchLink = httpLink) =>
  createTRPCClient<AppRouter>({
    links: [
      link<AppRouter>({
        url: `http://127.0.0.1:${api.port}/trpc`,
        headers: key === null ? {} : { authorization: `Bearer ${key.secret}` },
      }),
    ],
  });

/** The problem document that a refused call carries. */
async function problemOf(call: Promise<unknown>) {
  const error = await call.then(
    () => {
      throw new Error('The call was not refused.');
    },
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TRPCClientError)) throw error;
  return (error as TRPCClientError<AppRouter>).data?.problem; // thrown by the typed client above
}

describe('/trpc', () => {
  test('answers what REST answers', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['teams:read', 'members:read'] });

    const trpc = client(api, key);

    expect(await trpc.listTeams.query()).toEqual((await api.as(key).get('/api/v1/teams')).body);
    expect(await trpc.listTeamMembers.query({ teamId: team.id })).toEqual(
      (await api.as(key).get(`/api/v1/teams/${team.id}/members`)).body,
    );
  });

  test('mutations change what they say', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const trpc = client(api, await api.anApiKey(owner, { scopes: ['teams:write'] }));

    expect(await trpc.updateTeam.mutate({ teamId: team.id, name: 'Renamed' })).toMatchObject({
      id: team.id,
      name: 'Renamed',
    });
  });

  // Guarantees that no call gets more access over tRPC than over REST.
  test('reports errors as REST does, with the problem document in error.data.problem', async ({ api }) => {
    const owner = await api.anAccount();
    const stranger = await api.aTeam({ owner: await api.anAccount() });
    const key = await api.anApiKey(owner, { scopes: ['teams:write'] });

    expect(await problemOf(client(api, null).listTeams.query())).toMatchObject({
      code: 'credential_missing',
      status: 401,
    });
    expect(await problemOf(client(api, { secret: 'nonsense' }).listTeams.query())).toMatchObject({
      code: 'credential_invalid',
    });
    expect(await problemOf(client(api, key).listTeams.query())).toMatchObject({ code: 'scope_missing', status: 403 });
    expect(await problemOf(client(api, key).updateTeam.mutate({ teamId: stranger.id, name: 'Mine' }))).toMatchObject({
      code: 'team_not_found',
      status: 404,
    });
    expect(await problemOf(client(api, key).createTeam.mutate({ name: '' }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/name', code: 'min_length', params: { min: 1 } }],
    });
  });

  // REST finds the membership with the credential; over tRPC it is read by itself.
  test.for(KINDS)('a $name for one team reaches no other team of its account', async (kind, { api }) => {
    const owner = await api.anAccount();
    const [team, other] = [await api.aTeam({ owner }), await api.aTeam({ owner })];
    const scopes = ['teams:read', 'teams:write', 'members:read'] as const;
    const trpc = client(api, await kind.make(api, owner, { scopes: [...scopes], team }));

    expect(await trpc.getTeam.query({ teamId: team.id })).toMatchObject({ id: team.id });
    for (const call of [
      () => trpc.getTeam.query({ teamId: other.id }),
      () => trpc.listTeamMembers.query({ teamId: other.id }),
      () => trpc.updateTeam.mutate({ teamId: other.id, name: 'Mine' }),
    ]) {
      expect(await problemOf(call())).toMatchObject({ code: 'team_not_found', status: 404 });
    }
  });

  test('a problem names the request that its header names', async ({ api }) => {
    const answer = await api.anonymous.send({
      method: 'GET',
      path: '/trpc/listTeams',
      headers: { 'x-request-id': 'mine-1' },
    });

    expect(answer.status).toBe(401);
    expect(answer.headers['x-request-id']).toBe('mine-1');
    expect(answer.body.error.data.problem).toMatchObject({
      requestId: 'mine-1',
      type: 'http://localhost:3000/problems/credential-missing',
    });
  });

  test('a batch answers each call by itself and is charged for each', async ({ api }) => {
    const owner = await api.anAccount();
    const key = await api.anApiKey(owner, { scopes: ['teams:read'] });
    const before = await api.as(key).get('/api/v1/credential');

    const trpc = client(api, key, httpBatchLink);
    const [teams, me] = await Promise.allSettled([trpc.listTeams.query(), trpc.getMe.query()]);
    const after = await api.as(key).get('/api/v1/credential');

    expect(teams.status).toBe('fulfilled');
    expect(me.status).toBe('rejected');
    expect(Number(before.headers['ratelimit-remaining']) - Number(after.headers['ratelimit-remaining'])).toBe(3);
  });

  test('an unknown procedure is a 404 problem', async ({ api }) => {
    const answer = await api.anonymous.get('/trpc/dropEverything');

    expect(answer.status).toBe(404);
    expect(answer.body.error.data.problem.code).toBe('route_not_found');
  });

  test('a body that is no JSON, or too large, is a problem and no fault of ours', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const headers = { 'content-type': 'application/json' };
    const post = (body: string) => api.as(key).send({ method: 'POST', path: '/trpc/createTeam', headers, body });

    expect((await post('{"name":')).body.error.data.problem.code).toBe('malformed_json');
    expect((await post(JSON.stringify({ name: 'x'.repeat(110 * 1024) }))).body.error.data.problem.code).toBe(
      'body_too_large',
    );
  });

  // Guarantees that errors before tRPC reads the request are counted like all others, and once.
  test('a body of another type is rejected, with the rate limit headers, and counted', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const sent = { method: 'POST', path: '/trpc/createTeam', headers: { 'content-type': 'text/plain' }, body: '{}' };

    const first = await api.as(key).send(sent);
    const second = await api.as(key).send(sent);

    expect(second.status).toBe(415);
    expect(second.body.error.data.problem).toMatchObject({ code: 'unsupported_media_type', status: 415 });
    expect(Number(first.headers['ratelimit-remaining']) - Number(second.headers['ratelimit-remaining'])).toBe(1);
  });
});
