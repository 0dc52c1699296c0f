import { describe, expect } from 'vitest';
import { API_FACE } from '../../src/rest/api-face.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { apiRouter } from '../../src/router.ts';
import { test } from '../support/api.ts';
import {
  ABSENT,
  ASTRAL,
  NOT_STORABLE,
  NO_STRINGS,
  NO_TEXT,
  anOwner,
  at,
  atLeast,
  atMost,
  everywhere,
  faultsOf,
  notA,
  outcomes,
  required,
  type Fault,
} from './faults.ts';
import { ALL_SCOPES, operationOf, OPERATIONS } from './operations.ts';

type TextRule = {
  readonly id: string;
  readonly member: string;
  readonly min: number;
  readonly max: number;
  readonly optional?: true;
  /** What a text of the right length gets, where it is not the success. */
  readonly accepted?: unknown;
};

const texts: readonly TextRule[] = [
  { id: 'updateMe', member: 'firstName', min: 2, max: 255 },
  { id: 'updateMe', member: 'lastName', min: 2, max: 255 },
  { id: 'createTeam', member: 'name', min: 1, max: 100 },
  { id: 'createTeam', member: 'description', min: 0, max: 1000, optional: true },
  { id: 'updateTeam', member: 'name', min: 1, max: 100 },
  { id: 'createApiKey', member: 'name', min: 1, max: 100 },
  { id: 'createApiKey', member: 'teamId', min: 1, max: 255, optional: true, accepted: '404 team_not_found' },
  {
    id: 'createTeamInvitation',
    member: 'roleId',
    min: 1,
    max: 255,
    optional: true,
    accepted: [at('/roleId', { code: 'invalid_value' })], // of the right form, but no role of the team
  },
];

describe('a text has its length in code points', () => {
  test.for(texts)('$id: $member, $min to $max', async ({ id, member, min, max, optional, accepted }, { api }) => {
    const operation = operationOf(id);
    const fault = (entry: Omit<Fault, 'in' | 'pointer'>) => [at(`/${member}`, entry)];
    const good = {
      shortest: 'a'.repeat(min),
      'shortest astral': ASTRAL.repeat(min),
      longest: 'a'.repeat(max),
      'longest astral': ASTRAL.repeat(max),
    };
    const short = {
      empty: '',
      'too short': 'a'.repeat(Math.max(min - 1, 0)),
      'too short astral': ASTRAL.repeat(Math.max(min - 1, 0)),
    };
    const long = {
      'too long': 'a'.repeat(max + 1),
      'too long astral': ASTRAL.repeat(max + 1),
      'much too long': 'a'.repeat(90_000),
    };

    expect(await outcomes(api, operation, member, { ...good, ...(min > 0 ? short : {}), ...long })).toEqual({
      ...everywhere(good, accepted ?? String(operation.status)),
      ...(min > 0 ? everywhere(short, fault(atLeast(min))) : {}),
      ...everywhere(long, fault(atMost(max))),
    });
    expect(await outcomes(api, operation, member, { ...NO_STRINGS, ...NOT_STORABLE, absent: ABSENT })).toEqual({
      ...everywhere(NO_STRINGS, fault(notA('string'))),
      ...everywhere(NOT_STORABLE, fault(NO_TEXT)),
      absent: optional === undefined ? fault(required) : String(operation.status),
    });
  });

  test('what is not a letter counts and is kept: spaces, combining marks, line ends', async ({ api }) => {
    const { send } = await anOwner(api);
    const firstName = ' e\u0301\n';

    const answer = await send(operationOf('updateMe'), JSON.stringify({ firstName, lastName: '\u202e\ud83d\ude80' }));

    expect(answer.body).toMatchObject({ firstName, lastName: '\u202e\ud83d\ude80' });
  });
});

const withIds = OPERATIONS.flatMap((operation) =>
  [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ operation, id: operation.id, name })),
);

describe('an id in a path is any text of 1 to 255 code points', () => {
  test.for(withIds)('$id: $name', async ({ operation, name }, { api }) => {
    const owner = await anOwner(api);
    const notFound = {
      teamId: '404 team_not_found',
      userId: '404 member_not_found',
      invitationId: '404 invitation_not_found',
      keyId: '404 api_key_not_found',
    };
    const unknown: Readonly<Record<string, string>> = { ...notFound, sessionId: '200' }; // 4.5: an unknown session is a no-op
    const body = operation.body === undefined ? undefined : JSON.stringify(operation.body);
    const outcome = async (value: string) =>
      faultsOf(await owner.send(operation, body, owner.pathOf(operation, { ...owner.ids, [name]: value })));
    const fault = (entry: Omit<Fault, 'in' | 'pointer'>) => [{ in: 'path', pointer: `/${name}`, ...entry }];

    const good = [
      'x',
      ASTRAL,
      'x'.repeat(255),
      ASTRAL.repeat(255),
      '../..',
      '..',
      '/',
      '?',
      '%',
      "' or ''='",
      '__proto__',
      'null',
      '-1',
      '\n',
      'é',
    ];
    expect(await Promise.all(good.map(outcome))).toEqual(good.map(() => unknown[name]));
    expect(await Promise.all(['x'.repeat(256), ASTRAL.repeat(256), 'x'.repeat(4000)].map(outcome))).toEqual(
      [1, 2, 3].map(() => fault(atMost(255))),
    );
    expect(await outcome('a\u0000')).toEqual(fault(NO_TEXT));
  });
});

test('all faults of a request are reported together, those of the path and those of the body', async ({ api }) => {
  const owner = await anOwner(api);
  const long = 'x'.repeat(256);
  const faults = async (id: string, body: string) => {
    const operation = operationOf(id);
    const path = owner.pathOf(operation, { teamId: long, keyId: long });
    return faultsOf(await owner.send(operation, body, path));
  };
  const inPath = (name: string) => ({ in: 'path', pointer: `/${name}`, ...atMost(255) });
  const together = (...entries: Fault[]) =>
    expect.toSatisfy(
      (got: Fault[]) => JSON.stringify(sorted(got)) === JSON.stringify(sorted(entries)),
      JSON.stringify(entries),
    );
  const sorted = (entries: Fault[]) =>
    entries.map((entry) => JSON.stringify(Object.entries(entry).toSorted(([a], [b]) => a.localeCompare(b)))).toSorted();

  expect(await faults('createTeamInvitation', '{"email":7,"roleId":"","isSystemRole":"true"}')).toEqual(
    together(
      inPath('teamId'),
      at('/email', notA('string')),
      at('/roleId', atLeast(1)),
      at('/isSystemRole', notA('boolean')),
    ),
  );
  expect(await faults('updateApiKey', '{"scopes":[7,"x"]}')).toEqual(
    together(
      inPath('keyId'),
      at('/scopes/0', notA('string')),
      at('/scopes/1', { code: 'invalid_value', params: { allowed: ALL_SCOPES.join(', ') } }),
    ),
  );
  expect(await faults('updateTeam', '{}')).toEqual(together(inPath('teamId'), at('/name', required)));
  expect(await faults('updateTeam', '')).toEqual(together(inPath('teamId'), at('', required)));
  expect(await faults('updateTeam', '[]')).toEqual(together(inPath('teamId'), at('', notA('object'))));
  expect(await faults('updateMe', '{"firstName":"a"}')).toEqual(
    together(at('/firstName', atLeast(2)), at('/lastName', required)),
  );
});

const { routes: ROUTES } = describeFace(API_FACE, apiRouter, 'http://localhost:3000').routes;
const LONG = 'x'.repeat(300);
const VALUES: readonly unknown[] = [ABSENT, null, true, {}, '', ' ', LONG, `${LONG}\ud800`, -0.5, 1e21, []];
/** What can be wrong with a member: values that break several rules, and lists of what is wrong. */
const WRONG = [
  ...VALUES,
  ...[1, 10, 11, 100].flatMap((length) => [LONG, '', null].map((each) => Array<unknown>(length).fill(each))),
];

// The detail of an error says so where there are more, which would change the contract of `/api/v1`.
test('no request has more faults than an error names', async ({ api }) => {
  const owner = await anOwner(api);
  const faults = async (route: (typeof ROUTES)[number], body: object): Promise<Fault[]> => {
    const path = route.template.replaceAll(/\{\w+\}/g, LONG);
    const query = route.queryParams.flatMap((name) => [`${name}=`, `${name}=%00`]).join('&');
    const answer = await api.as(owner.caller).send({
      method: route.method,
      path: `${path}?${query}`,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a b' },
      ...(route.hasBody && { body: JSON.stringify(body) }),
    });
    expect(String(answer.body.detail)).not.toContain('Only the first');
    return (answer.body.errors ?? []) as Fault[];
  };
  const numbers = ROUTES.map(async (route) => {
    const worst: Record<string, unknown> = {};
    for (const name of Object.keys(route.input?.shape ?? {})) {
      const counts = await Promise.all(
        WRONG.map(async (value) => (await faults(route, { ...worst, [name]: value })).length),
      );
      worst[name] = WRONG[counts.indexOf(Math.max(...counts))];
    }
    return (await faults(route, worst)).length;
  });

  // Of `createApiKey`: ten scopes, three other members, and the header.
  expect(Math.max(...(await Promise.all(numbers)))).toBe(14);
});
