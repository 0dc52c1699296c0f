import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

async function aCaller(api: Api) {
  const account = await api.anAccount();
  const [team, key] = await Promise.all([api.aTeam({ owner: account }), api.anApiKey(account, { scopes: ALL_SCOPES })]);
  return { account, team, key, caller: api.as(key) };
}

const outcomeOf = ({ status, body }: Answer) => [status, body.code].filter(Boolean).join(' ');
const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))];
const methodsOf = (path: string) =>
  OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method as string);
/** The path with something in the place of each id. */
const concrete = (path: string) => path.replaceAll(/\{\w+\}/g, 'x');

describe('a path', () => {
  test.for([
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/%74eams',
    '/api/v1/team%73',
    '/api/v1/teams%2F',
    '/api%2Fv1%2Fteams',
    '/%61pi/v1/teams',
    '/api/v1/Teams',
    '/api/v1/TEAMS',
    '/API/v1/teams',
    '/api/V1/teams',
    '/Api/V1/Me',
    '/api/v2/teams',
    '/api/v10/teams',
    '/api/v1.0/teams',
    '/api/v1teams',
    '/api//v1/teams',
    '//api/v1/teams',
    '/api/v1//teams',
    '/api/v1/teams//',
    '/api/v1///',
    '/api/v1/teams//members',
    '/api/v1/teams/x//members',
    '/api/v1/./teams',
    '/api/v1/../v1/teams',
    '/api/v1/teams/../me',
    '/api/v1/teams/x/../../me',
    '/api/v1/me/..',
    '/api/v1/me/%2e%2e',
    '/api/v1/teams/x/%6dembers',
    '/api/v1/teams/x/members/y/z',
    '/api/v1/me;x=1',
    '/api/v1/__proto__',
    '/api/v1/constructor',
    '/api/v1/teams/x/toString',
    '/api/v1/%zz',
    '/api/v1/%00',
    '/api/v1/teams/x/%ff',
  ])('%s is unknown, with and without a credential', async (path, { api }) => {
    const { caller } = await aCaller(api);

    for (const method of ['GET', 'POST', 'OPTIONS']) {
      expect(await caller.send({ method, path })).toBeProblem('route_not_found');
      expect(await api.anonymous.send({ method, path })).toBeProblem('route_not_found');
      expect(await api.as('garbage').send({ method, path })).toBeProblem('route_not_found');
    }
  });

  test.for(PATHS)('%s may end in one slash', async (path, { api }) => {
    const { caller } = await aCaller(api);
    const [method = ''] = methodsOf(path);
    const send = async (end: string) => outcomeOf(await caller.send({ method, path: `${concrete(path)}${end}` }));

    const [plain, slash, query] = await Promise.all([send(''), send('/'), send('/?x=1')]);

    expect([slash, query]).toEqual([plain, plain]);
    expect(plain).not.toContain('route');
    expect(await send('//')).toBe('404 route_not_found');
  });

  // Guarantees that no id climbs: it is split off before it is decoded.
  test.for([
    '%2e%2e',
    '..',
    '.',
    '%2E',
    '%2F',
    '%2f..%2f',
    '..%2fme',
    '%5c',
    '%25',
    '%252e',
    '*',
    '@',
    ':',
    ';',
    '~',
    '!',
    '%3F',
    '%23',
    '+',
    '%20',
    'members',
  ])('an id written as %s is an id like others', async (id, { api }) => {
    const { caller } = await aCaller(api);

    expect(await caller.get(`/api/v1/teams/${id}`)).toBeProblem('team_not_found');
    expect(await caller.get(`/api/v1/teams/${id}/members`)).toBeProblem('team_not_found');
    expect(await caller.delete(`/api/v1/api-keys/${id}`)).toBeProblem('api_key_not_found');
  });

  test('an id is decoded once', async ({ api }) => {
    const { caller, team } = await aCaller(api);
    const encoded = team.id
      .split('')
      .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
      .join('');

    expect((await caller.get(`/api/v1/teams/${encoded}`)).body.id).toBe(team.id);
    expect(await caller.get(`/api/v1/teams/${encoded.replaceAll('%', '%25')}`)).toBeProblem('team_not_found');
  });

  test.for(['%zz', '%', '%2', 'x%', '%ff', '%c0%af', '%ed%a0%80', '%f0%9d%92', '%00', 'x%00y'])(
    'an id written as %s cannot be decoded or stored',
    async (id, { api }) => {
      const { caller } = await aCaller(api);
      const fault = (name: string) => ({
        in: 'path',
        pointer: `/${name}`,
        code: 'invalid_format',
        params: { format: 'unicode' },
      });

      const team = await caller.get(`/api/v1/teams/${id}`);
      const member = await caller.delete(`/api/v1/teams/${id}/members/${id}`);

      expect(team).toBeProblem('validation_failed');
      expect(team.body.errors).toEqual([fault('teamId')]);
      expect(member.body.errors).toEqual([fault('teamId'), fault('userId')]);
    },
  );
});

describe('the query', () => {
  const fault = (code: string, params: object) => [{ in: 'query', pointer: '/teamId', code, params }];

  test.for([
    ['teamId=', fault('min_length', { min: 1 })],
    ['teamId', fault('min_length', { min: 1 })],
    [`teamId=${'x'.repeat(256)}`, fault('max_length', { max: 255 })],
    [`teamId=${'%F0%9D%92%B3'.repeat(256)}`, fault('max_length', { max: 255 })],
    ['teamId=a&teamId=b', fault('invalid_type', { expected: 'string' })],
    ['teamId=a&x=1&team%49d=a', fault('invalid_type', { expected: 'string' })],
    ['teamId=&teamId=', fault('invalid_type', { expected: 'string' })],
    ['teamId=%zz', fault('invalid_format', { format: 'unicode' })],
    ['teamId=%ff', fault('invalid_format', { format: 'unicode' })],
    ['teamId=x%00', fault('invalid_format', { format: 'unicode' })],
  ] as const)('%.40s is not valid', async ([query, errors], { api }) => {
    const { caller } = await aCaller(api);

    const answer = await caller.get(`/api/v1/api-keys?${query}`);

    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toEqual(errors);
  });

  test.for([
    'x',
    'x'.repeat(255),
    '%F0%9D%92%B3'.repeat(255),
    '+',
    '%2B',
    'a=b',
    'a;b',
    '__proto__',
    '[object Object]'.replace(' ', '+'),
    "'",
  ])('teamId=%.30s is an id like others', async (id, { api }) => {
    const { caller } = await aCaller(api);

    expect(await caller.get(`/api/v1/api-keys?teamId=${id}`)).toBeProblem('team_not_found');
  });

  test.for([
    '',
    'x=1',
    'limit=0&offset=-1',
    'teamId[]=x',
    'TEAMID=x',
    'teamid=x',
    '?teamId=x',
    '&&',
    '=',
    '=x',
    '__proto__=x&constructor=y',
    '%zz=%zz',
    'accountId=x',
    'x=%00',
  ])('%s is ignored', async (query, { api }) => {
    const { caller, account, key } = await aCaller(api);
    await api.anApiKey(await api.anAccount());

    const { status, body } = await caller.get(`/api/v1/api-keys?${query}`);

    expect([status, body.map(({ id }: { id: string }) => id)]).toEqual([200, [key.id]]);
    expect(await api.rows('select id from api_key where account_id = $1', [account.id])).toEqual([{ id: key.id }]);
  });

  test('names the team also where its name or value is encoded', async ({ api }) => {
    const { caller, account, team } = await aCaller(api);
    const { id } = await api.anApiKey(account, { team });

    expect((await caller.get(`/api/v1/api-keys?x&team%49d=${team.id.replace('_', '%5f')}`)).body).toMatchObject([
      { id },
    ]);
  });

  test.for(OPERATIONS.filter(({ id }) => id !== 'listApiKeys'))(
    '$id has no query parameters',
    async ({ method, path, body }, { api }) => {
      const { caller } = await aCaller(api);
      const send = async (query: string) => {
        const sent = { method, path: `${concrete(path)}${query}` };
        const type = { 'content-type': 'application/json' };
        return outcomeOf(
          await caller.send(body === undefined ? sent : { ...sent, headers: type, body: JSON.stringify(body) }),
        );
      };

      expect(await send('?teamId=&teamId=%zz&name=&scopes=7&keyId=%00&userId=')).toBe(await send(''));
    },
  );
});
