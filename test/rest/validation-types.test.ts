import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import {
  ABSENT,
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
} from './faults.ts';
import { ALL_SCOPES, operationOf } from './operations.ts';

describe('createTeamInvitation: email', () => {
  const invite = operationOf('createTeamInvitation');
  const noEmail = { code: 'invalid_format', params: { format: 'email' } };
  const ofLength = (length: number) => `${'a'.repeat(length - 12)}@example.com`;

  test('is an address of at most 255 characters', async ({ api }) => {
    const bad = {
      word: 'ada',
      'no host': 'ada@',
      'no top level': 'ada@example',
      space: ' ada@example.com',
      two: 'a@b.com,c@d.com',
      'line end': 'ada@example.com\n',
    };

    expect(
      await outcomes(api, invite, 'email', {
        plain: 'Ada+x@Example.com',
        ...bad,
        longest: ofLength(255),
        'too long': ofLength(256),
      }),
    ).toEqual({
      plain: '201',
      longest: '201',
      ...everywhere(bad, [at('/email', noEmail)]),
      'too long': [at('/email', atMost(255))],
    });
  });

  test('breaks several rules at the same time', async ({ api }) => {
    expect(await outcomes(api, invite, 'email', { empty: '', 'long word': 'a'.repeat(256) })).toEqual({
      empty: [at('/email', noEmail), at('/email', atLeast(1))],
      'long word': [at('/email', noEmail), at('/email', atMost(255))],
    });
  });

  test('is a string that can be stored', async ({ api }) => {
    expect(
      await outcomes(api, invite, 'email', {
        ...NO_STRINGS,
        NUL: '\u0000@example.com',
        lone: '\ud800@example.com',
        absent: ABSENT,
      }),
    ).toEqual({
      ...everywhere(NO_STRINGS, [at('/email', notA('string'))]),
      ...everywhere({ NUL: 0, lone: 0 }, [at('/email', NO_TEXT)]),
      absent: [at('/email', required)],
    });
  });
});

describe('createTeamInvitation: isSystemRole', () => {
  test('is a boolean and nothing like one', async ({ api }) => {
    const like = { '"false"': 'false', '"true"': 'true', 0: 0, 1: 1, null: null, '[]': [], '{}': {}, '""': '' };

    expect(
      await outcomes(api, operationOf('createTeamInvitation'), 'isSystemRole', { true: true, absent: ABSENT, ...like }),
    ).toEqual({
      ...everywhere(like, [at('/isSystemRole', notA('boolean'))]),
      true: '201',
      absent: '201',
    });
  });
});

describe('createApiKey: expiresInDays', () => {
  const member = 'expiresInDays';
  const send = async (api: Api, text: string) => {
    const owner = await anOwner(api);
    return faultsOf(
      await owner.send(operationOf('createApiKey'), `{"name":"A key","scopes":["teams:read"],"${member}":${text}}`),
    );
  };

  test.for(['1', '365', '365.0', '1e2', '3.65e2'])('%s is accepted', async (text, { api }) => {
    expect(await send(api, text)).toBe('201');
  });

  test.for([
    ['0', { code: 'min_value', params: { min: 1 } }],
    ['-0', { code: 'min_value', params: { min: 1 } }],
    ['-1', { code: 'min_value', params: { min: 1 } }],
    ['-1e300', { code: 'min_value', params: { min: 1 } }],
    ['366', { code: 'max_value', params: { max: 365 } }],
    ['9007199254740993', { code: 'max_value', params: { max: 365 } }],
    ['1e300', { code: 'max_value', params: { max: 365 } }],
  ] as const)('%s is beyond a bound', async ([text, fault], { api }) => {
    expect(await send(api, text)).toEqual([at(`/${member}`, fault)]);
  });

  test.for(['"30"', '1.5', '0.5', '365.5', 'null', '[7]', '{}', 'true', '""', '1e400', '-1e400'])(
    '%s is no integer',
    async (text, { api }) => {
      const faults = await send(api, text);

      expect(faults).toEqual(
        expect.arrayContaining([expect.objectContaining({ in: 'body', pointer: `/${member}`, code: 'invalid_type' })]),
      );
    },
  );
});

describe.for(['createApiKey', 'updateApiKey'])('%s: scopes', (id) => {
  const operation = operationOf(id);

  test('is a list of 1 to 10', async ({ api }) => {
    const noLists = {
      null: null,
      string: 'teams:read',
      number: 7,
      boolean: true,
      object: { 0: 'teams:read', length: 1 },
    };
    const cases = {
      one: ['teams:read'],
      all: ALL_SCOPES,
      none: [],
      eleven: [...ALL_SCOPES, 'teams:read'],
      ...noLists,
      absent: ABSENT,
    };

    expect(await outcomes(api, operation, 'scopes', cases)).toEqual({
      one: String(operation.status),
      all: String(operation.status),
      none: [at('/scopes', atLeast(1))],
      eleven: [at('/scopes', atMost(10))],
      ...everywhere(noLists, [at('/scopes', notA('array'))]),
      absent: [at('/scopes', required)],
    });
  });

  test('each item is a scope, and each that is none is named', async ({ api }) => {
    const owner = await anOwner(api);
    const scopes = [
      'teams:read',
      'teams:admin',
      'TEAMS:READ',
      'teams:read ',
      '',
      '*',
      7,
      null,
      ['teams:read'],
      'a\u0000',
    ];

    const faults = faultsOf(await owner.send(operation, JSON.stringify({ ...operation.body, scopes })));

    const noScope = { code: 'invalid_value', params: { allowed: ALL_SCOPES.join(', ') } };
    expect(faults).toEqual([
      ...[1, 2, 3, 4, 5].map((i) => at(`/scopes/${i}`, noScope)),
      ...[6, 7, 8].map((i) => at(`/scopes/${i}`, notA('string'))),
      at('/scopes/9', NO_TEXT),
    ]);
  });

  test('names that every object has are no scopes', async ({ api }) => {
    const inherited = { constructor: ['constructor'], proto: ['__proto__'], toString: ['toString'] };

    expect(await outcomes(api, operation, 'scopes', inherited)).toEqual(
      everywhere(inherited, [expect.objectContaining({ pointer: '/scopes/0', code: 'invalid_value' })]),
    );
  });

  // Guarantees that a small request cannot ask for a large answer.
  test('a list that is too long is one fault, however many of its items are wrong', async ({ api }) => {
    const owner = await anOwner(api);

    const answer = await owner.send(operation, `{"name":"A key","scopes":[${'0,'.repeat(51_000)}0]}`);

    expect(faultsOf(answer)).toEqual([at('/scopes', atMost(10))]);
  });

  test('duplicates are merged, and scopes come back in the order of the specification', async ({ api }) => {
    const owner = await anOwner(api);
    const scopes = ['billing:read', 'teams:read', 'billing:read', 'profile:read'];

    const { body } = await owner.send(operation, JSON.stringify({ ...operation.body, scopes }));

    expect((body.key ?? body).scopes).toEqual(['profile:read', 'teams:read', 'billing:read']);
  });
});
