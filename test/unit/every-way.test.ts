import type { AnyTRPCProcedure } from '@trpc/server';
import { Command, type Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { GROUPS } from '../../src/cli/commands.ts';
import { matchLanguage } from '../../src/messages/languages.ts';
import { readRow, ROW_SCHEMAS } from '../../src/resources/imports/rows.ts';
import { apiRouter, appRouter, operatorRouter } from '../../src/router.ts';

type Sample = readonly [given: string, stored: string | null];

const NAMES: readonly Sample[] = [
  ['李', '李'],
  [' Ann ', 'Ann'],
  ['\tAnn\r\n', 'Ann'],
  ['\ufeffAnn\u00a0', 'Ann'],
  ['An\tn', null],
  ['An\nn', null],
  ['An\u2028n', null],
  ['Ann\u202e', null],
  ['\u2066Ann', null],
  ['Ann\u0000', null],
  ['Ann\ud800', null],
  [' \t ', null],
  ['\u200b', null],
  ['', null],
];

/** What is given, and what is stored; null if it is refused. */
const KINDS = {
  person: [...NAMES, ['n'.repeat(255), 'n'.repeat(255)], ['n'.repeat(256), null]],
  resource: [...NAMES, ['n'.repeat(100), 'n'.repeat(100)], ['n'.repeat(101), null]],
  email: [
    ['Ann@Example.com', 'Ann@Example.com'],
    [' ann@example.com\n', 'ann@example.com'],
    ['o/brien@example.xn--p1ai', 'o/brien@example.xn--p1ai'],
    ['ann@localhost', null],
    ['an\tn@example.com', null],
    ['ann\u202e@example.com', null],
    ['Ann <ann@example.com>', null],
    [`${'a'.repeat(250)}@example.com`, null],
  ],
  picture: [
    ['https://example.com/a.png', 'https://example.com/a.png'],
    [' https://example.com/a.png ', 'https://example.com/a.png'],
    ['http://example.com/a.png', null],
    ['https://ann:secret@example.com/a.png', null],
    ['http://ann:secret@example.com/a.png', null],
    ['https://example.com/a\tb.png', null],
    ['https://example.com/a b.png', null],
    ['javascript:alert(1)', null],
    ['/a.png', null],
    [`https://example.com/${'a'.repeat(2048)}`, null],
  ],
  locale: [
    ['de', 'de'],
    ['de_DE', 'de-DE'],
    ['pt_BR', 'pt-BR'],
    [' zh_hant_tw ', 'zh-Hant-TW'],
    ['de DE', null],
    ['de\tDE', null],
    ['d', null],
    ['', null],
  ],
  time: [
    ['2099-01-01T00:00:00Z', '2099-01-01T00:00:00.000Z'],
    ['2099-01-01T00:00:00-23:59', '2099-01-01T23:59:00.000Z'],
    ['2099-01-01T00:00:00.123456+16:00', '2098-12-31T08:00:00.123Z'],
    ['2099-01-01T00:00:00', null],
    ['2099-02-30T00:00:00Z', null],
    ['2099-01-01T00:00:00+24:00', null],
    ['1969-12-31T23:59:59Z', null],
    ['9999-12-31T23:59:59-01:00', null],
    ['2099-01-01', null],
  ],
} as const satisfies Record<string, readonly Sample[]>;

type Kind = keyof typeof KINDS;

const KIND_OF: Readonly<Record<string, Kind>> = {
  firstName: 'person',
  lastName: 'person',
  name: 'resource',
  email: 'email',
  newEmail: 'email',
  avatar: 'picture',
  avatarUrl: 'picture',
  preferredLocale: 'locale',
  emailVerified: 'time',
  createdAt: 'time',
  joinedAt: 'time',
  lastUsedAt: 'time',
  expiresAt: 'time',
  planExpiresAt: 'time',
};

/** A field of an import, of a procedure (operator API, its area, forms of the console) or of a command. */
type Way = { readonly path: string; readonly field: string; readonly read: (given: string) => string | null };

function waysOf(path: string, schema: unknown): Way[] {
  const isWrapper = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault].some((one) => schema instanceof one);
  if (isWrapper) return waysOf(path, (schema as z.ZodOptional).unwrap()); // as all of them have it
  if (schema instanceof z.ZodPipe) return waysOf(path, schema.in);
  if (schema instanceof z.ZodArray) return waysOf(path, schema.element);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([field, inner]) => {
    const read = (given: string) => {
      const { data } = (inner as z.ZodType).safeParse(given);
      return typeof data === 'string' ? data : null;
    };
    return [...(field in KIND_OF ? [{ path, field, read }] : []), ...waysOf(`${path} ${field}`, inner)];
  });
}

const IMPORT = Object.entries(ROW_SCHEMAS).flatMap(([stage, schema]) => waysOf(`import ${stage}`, schema));

/** The operations of the REST API have the lengths of the contract; names of permissions are ids. */
const OTHER = new Set(Object.keys(apiRouter._def.procedures));
const isOfPermission = ({ path }: Way) => path.endsWith('applyPermissions permissions');

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>) // flat, unlike its type
  .filter(([path, { _def }]) => _def.type === 'mutation' && !OTHER.has(path))
  .flatMap(([path, { _def }]) => {
    const { inputs } = _def as unknown as { readonly inputs: readonly unknown[] }; // not in the public type
    return inputs.flatMap((input) => waysOf(path, input));
  })
  .filter((way) => !isOfPermission(way));

const optionsOf = (command: Command): [string, Option][] => [
  ...command.options.map((option): [string, Option] => [command.name(), option]),
  ...command.commands.flatMap((sub) =>
    optionsOf(sub as Command).map(([path, option]): [string, Option] => [`${command.name()} ${path}`, option]),
  ),
];

/** `--email` names an account in all commands but the one that creates it. */
const isField = (path: string, field: string) => field in KIND_OF && (field !== 'email' || path === 'account create');

async function readCommands(): Promise<Way[]> {
  const groups = Object.entries(GROUPS).map(async ([name, [, load]]) => {
    const group = new Command(name);
    (await load())(group);
    return optionsOf(group);
  });
  return (await Promise.all(groups)).flat().flatMap(([path, option]) => {
    const field = option.attributeName();
    if (!isField(path, field)) return [];
    const read = (given: string) => {
      try {
        const value: unknown = option.parseArg?.(given, undefined as never);
        return value instanceof Date ? value.toISOString() : String(value);
      } catch {
        return null;
      }
    };
    return [{ path: `roster ${path}`, field, read }];
  });
}

const WAYS = [...IMPORT, ...PROCEDURES, ...(await readCommands())];

test('emails use the language of a tag that an earlier version imported as it was', () => {
  expect(['de_DE', 'pt_BR'].map((tag) => matchLanguage(tag))).toEqual(['de', 'pt-BR']);
});

test('a key that is imported was not used before it was created', () => {
  const key = {
    account: 'a',
    name: 'CI',
    scopes: ['teams:read'],
    secretHash: '0'.repeat(64),
    keyPrefix: 'p',
    last4: '1',
  };
  const [early, late] = ['2020-01-01T00:00:00Z', '2021-01-01T00:00:00+01:00'];
  expect(readRow('apiKey', { ...key, createdAt: early, lastUsedAt: late })).toHaveProperty('scopes');
  expect(readRow('apiKey', { ...key, createdAt: late, lastUsedAt: early })).toEqual({
    code: 'invalid',
    detail: '/lastUsedAt: It is before `createdAt`.',
  });
});

describe('a field takes and stores the same in every way', () => {
  test('each kind has the ways that there are', () => {
    const of = (kind: Kind) => WAYS.filter(({ field }) => KIND_OF[field] === kind).map(({ path }) => path);
    for (const kind of ['person', 'resource', 'email', 'picture', 'locale', 'time'] as const) {
      expect(of(kind), kind).toContainEqual(expect.stringMatching(/^import /));
      expect(of(kind), kind).toContainEqual(expect.stringMatching(/^operatorApi\./));
    }
    for (const kind of ['person', 'resource', 'email', 'time'] as const)
      expect(of(kind), kind).toContainEqual(expect.stringMatching(/^roster /));
    for (const kind of ['person', 'email'] as const) expect(of(kind)).toContain('auth.signUp');
    for (const kind of ['person', 'picture', 'locale'] as const) expect(of(kind)).toContain('account.updateProfile');
  });

  test('every member of an import is one of them, or has no other way', () => {
    const others = Object.entries(ROW_SCHEMAS).flatMap(([stage, schema]) =>
      Object.keys(schema.shape)
        .filter((field) => !(field in KIND_OF))
        .map((field) => `${stage} ${field}`),
    );
    expect(others.toSorted()).toEqual([
      'account externalId',
      'account isDisabled',
      'account metadata',
      'account passwordHash',
      'apiKey account',
      'apiKey keyPrefix',
      'apiKey last4',
      'apiKey permissions',
      'apiKey scopes',
      'apiKey secretHash',
      'apiKey team',
      'membership account',
      'membership isActive',
      'membership metadata',
      'membership role',
      'membership team',
      'team description',
      'team externalId',
      'team metadata',
      'team owner',
      'team plan',
      'team roles',
      'team slug',
    ]);
  });

  test.for(WAYS.map((way) => [`${way.path}: ${way.field}`, way] as const))('%s', ([, { field, read }]) => {
    const samples: readonly Sample[] = KINDS[KIND_OF[field] as Kind];
    expect(samples.map(([given]) => [given, read(given)])).toEqual(samples);
  });
});

test('what creates a resource over the operator API takes what changes it takes', () => {
  const inputs = new Map(
    Object.entries(operatorRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>).map(
      ([path, { _def }]) => {
        const { inputs: schemas } = _def as unknown as { readonly inputs: readonly z.ZodObject[] }; // not in the public type
        return [path, new Set(schemas.flatMap(({ shape }) => Object.keys(shape)))];
      },
    ),
  );
  const pairs = [...inputs].flatMap(([path, fields]) => {
    const creates = [...inputs].find(
      ([other]) => other === path.replace('update', 'create').replace('createMember', 'addMember'),
    );
    return path.startsWith('update') && creates ? [{ path, fields, creates: creates[1] }] : [];
  });
  expect(pairs.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['updateAccount', 'updateTeam', 'updateMember', 'updateRole', 'updateClient']),
  );
  for (const { path, fields, creates } of pairs)
    expect(
      [...fields].filter((field) => !creates.has(field) && !/^version$|Id$/.test(field)),
      path,
    ).toEqual([]);
});
