import type { AnyTRPCProcedure } from '@trpc/server';
import { Command, InvalidArgumentError, type Option } from 'commander';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { GROUPS } from '../../src/cli/commands.ts';
import { isReadableName } from '../../src/procedures/fields.ts';
import { apiRouter, appRouter } from '../../src/router.ts';
import { startApi, testWith } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';

const test = testWith(() => startApi({ TEAM_LIMIT: '1000' }));

/** Names that do not display as they are written, or not at all. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'an override': 'Acme\u202Eemca',
  'an isolate': 'Acme\u2066',
  'the end of an isolate': 'Acme\u2069',
  'a line end': 'Acme\nVerified by the operator',
  'a line separator': 'Acme\u2028x',
  'a C1 control': 'Acme\u0085x',
  blanks: '  \u00a0\u3000 ',
  'a Braille blank': '\u2800\u2800',
  'a null notehead': '\u{1d159}\u{1d159}',
  'a Khitan filler': '\u{16fe4}\u{16fe4}',
  'a blank of hieroglyphs': '\u{13441}\u{13442}',
  'the place of an object': '\ufffc\ufffc',
  'a mark without a letter': '\u0301\u0302',
  'Hangul fillers': '\u3164\u115f\uffa0',
  'a tag in no flag': 'Acme\u{e0041}',
  'a flag that is not closed': '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067} Acme',
  'a flag that hides a text': '\u{1f3f4}\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0021}\u{e007f}',
  'invisible characters': '\u200b\u2060\u00ad\u{e0041}',
};
/** An emoji flag, which has the code of its region in tag characters. */
const SCOTLAND = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}';
const READABLE = [
  'Acme',
  '李李',
  'משה כהן',
  'محمد \u200fعلي',
  'می‌خواهم',
  '👩‍💻 Team',
  "O'Brien",
  'e\u0301',
  '11',
  '★★',
  SCOTLAND,
];

type Field = { readonly path: string; readonly field: string; readonly schema: z.ZodType };

const inputsOf = (procedure: AnyTRPCProcedure): readonly z.ZodObject[] => {
  const { inputs } = procedure._def as unknown as { readonly inputs: readonly unknown[] }; // not in the public type
  return inputs.filter((schema) => schema instanceof z.ZodObject);
};

/** Names of permissions are ids: their pattern allows a-z, 0-9, `_`, `-` and one colon. */
const IDS = new Set(['operator', 'operatorApi'].map((router) => `${router}.applyPermissions permissions: name`));

/** The text of a field, also of one by language. */
function textOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe) return textOf(schema.out as z.ZodType);
  return schema instanceof z.ZodRecord ? (schema.valueType as z.ZodType) : schema;
}

const WRAPPERS = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault];

const fieldsOf = (path: string, schema: unknown): Field[] => {
  if (WRAPPERS.some((wrapper) => schema instanceof wrapper)) return fieldsOf(path, (schema as z.ZodOptional).unwrap()); // as all of them have it
  if (schema instanceof z.ZodPipe) return fieldsOf(path, schema.out);
  if (schema instanceof z.ZodArray) return fieldsOf(path, schema.element);
  if (schema instanceof z.ZodRecord) return fieldsOf(path, schema.valueType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([field, inner]) => [
    ...(/(?:name|label|title)$/i.test(field) && !IDS.has(`${path}: ${field}`)
      ? [{ path, field, schema: textOf(inner as z.ZodType) }]
      : []),
    ...fieldsOf(`${path} ${field}`, inner),
  ]);
};

/** The fields of all changes that are called like names. */
const FIELDS = Object.entries(appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>) // flat, unlike its type
  .filter(([, { _def }]) => _def.type === 'mutation')
  .flatMap(([path, procedure]) => inputsOf(procedure).flatMap((input) => fieldsOf(path, input)));

const SHARED = new Set(Object.keys(apiRouter._def.procedures));

test('the rule of names accepts what is written in other scripts', () => {
  expect(READABLE.filter((name) => !isReadableName(name))).toEqual([]);
});

describe('every name in the input of a change is readable', () => {
  const own = FIELDS.filter(({ path }) => !SHARED.has(path));

  test('there are such fields', () => {
    expect(own.length).toBeGreaterThan(10);
  });

  test.for(own.map((field) => [`${field.path}: ${field.field}`, field] as const))('%s', ([, { schema }]) => {
    for (const [what, name] of Object.entries(UNREADABLE))
      expect(schema.safeParse(name).error?.issues, what).toContainEqual(
        // White space at both ends is dropped.
        what === 'blanks'
          ? expect.objectContaining({ code: 'too_small' })
          : expect.objectContaining({ code: 'invalid_format', format: 'name' }),
      );
    for (const name of READABLE) expect(schema.safeParse(` ${name}\u3000`).data, name).toBe(name);
  });
});

describe('every name in an option of a command is readable', async () => {
  const groups = await Promise.all(
    Object.entries(GROUPS).map(async ([name, [, load]]) => {
      const group = new Command(name);
      (await load())(group);
      return group;
    }),
  );
  const listOptions = (command: Command, path: string): (readonly [string, Option])[] => [
    ...command.options.map((option) => [`${path} ${option.long}`, option] as const),
    ...command.commands.flatMap((inner) => listOptions(inner, `${path} ${inner.name()}`)),
  ];
  const names = groups
    .flatMap((group) => listOptions(group, group.name()))
    .filter(([, { long }]) => long?.endsWith('name'));

  test('there are such options', () => {
    expect(names.map(([path]) => path)).toEqual(
      expect.arrayContaining(['account create --first-name', 'oauth-client update --name']),
    );
    expect(names.length).toBeGreaterThan(8);
  });

  test.for(names)('%s', ([, { parseArg }]) => {
    for (const [what, name] of Object.entries(UNREADABLE))
      expect(() => parseArg?.(name, undefined), what).toThrow(InvalidArgumentError);
    for (const name of READABLE) expect(parseArg?.(` ${name}\u3000`, undefined)).toBe(name);
  });
});

describe('the name of a person can have one character', () => {
  const ofPersons = FIELDS.filter(({ field }) => /^(?:first|last)Name$/.test(field));

  test.for(
    ofPersons
      .filter(({ path }) => path !== 'updateMe')
      .map((field) => [`${field.path}: ${field.field}`, field] as const),
  )('%s', ([, { schema }]) => {
    expect(schema.safeParse('李').error).toBeUndefined();
  });

  // Section 4.3 of the contract. Both names are in each of the changes that have one.
  test('except in updateMe, which is an operation of the REST API', async ({ api }) => {
    const paths = Map.groupBy(ofPersons, ({ path }) => path);
    expect([...paths].filter(([, { length }]) => length !== 2)).toEqual([]);
    expect([...paths.keys()]).toEqual(
      expect.arrayContaining(['updateMe', 'account.updateProfile', 'auth.signUp', 'operatorApi.createAccount']),
    );

    const owner = await api.anAccount();
    const { secret } = await api.anApiKey(owner, { scopes: ['profile:write'] });
    const { trpc } = await signedIn(api, owner);
    const body = { firstName: '李', lastName: '王' };
    expect(await api.as(secret).patch('/api/v1/me', body)).toMatchObject({
      status: 400,
      body: {
        errors: ['/firstName', '/lastName'].map((pointer) => ({ pointer, code: 'min_length', params: { min: 2 } })),
      },
    });
    expect(await trpc.account.updateProfile.mutate(body)).toMatchObject(body);
  });
});

test('operations of the REST API remove white space at both ends of names over tRPC alone', async ({ api }) => {
  const owner = await api.anAccount();
  const { secret } = await api.anApiKey(owner, { scopes: ['teams:write'] });
  const { trpc } = await signedIn(api, owner);
  const name = ' Acme\t';

  expect(await trpc.createTeam.mutate({ name })).toMatchObject({ name: 'Acme' });
  expect(await api.as(secret).post('/api/v1/teams', { name })).toMatchObject({ status: 201, body: { name } });
});

// Over REST the lengths alone decide (section 8 of the contract).
describe('operations of the REST API take names that are not readable over REST, and refuse them over tRPC', () => {
  const calls = {
    updateMe: (name: string) => ({ firstName: name, lastName: name }),
    createTeam: (name: string) => ({ name }),
    updateTeam: (name: string, teamId: string) => ({ teamId, name }),
    createApiKey: (name: string) => ({ name, scopes: ['teams:read'] }),
  } as const;
  const REST = {
    updateMe: ['PATCH', () => '/me'],
    createTeam: ['POST', () => '/teams'],
    updateTeam: ['PATCH', (teamId: string) => `/teams/${teamId}`],
    createApiKey: ['POST', () => '/api-keys'],
  } as const;

  test('these are all', () => {
    const shared = FIELDS.filter(({ path }) => SHARED.has(path));
    expect([...new Set(shared.map(({ path }) => path))].toSorted()).toEqual(Object.keys(calls).toSorted());
  });

  test('and over tRPC without the white space at their ends, as over the operator API, which their schemas say', async ({
    api,
  }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const { trpc } = await signedIn(api, owner);
    const name = ' An Acme\u3000';

    expect(await trpc.updateMe.mutate(calls.updateMe(name))).toMatchObject({
      firstName: 'An Acme',
      lastName: 'An Acme',
    });
    expect(await trpc.createTeam.mutate(calls.createTeam(name))).toMatchObject({ name: 'An Acme' });
    expect(await trpc.updateTeam.mutate(calls.updateTeam(name, team.id))).toMatchObject({ name: 'An Acme' });
    expect(await trpc.createApiKey.mutate({ name, scopes: ['teams:read'] })).toMatchObject({
      key: { name: 'An Acme' },
    });
    const { secret } = await api.anApiKey(owner, { scopes: ['teams:write'] });
    expect(await api.as(secret).patch(`/api/v1/teams/${team.id}`, { name })).toMatchObject({ body: { name } });
  });

  test.for(Object.keys(calls) as (keyof typeof calls)[])('%s', async (operation, { api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const visitor = await signedIn(api, owner);
    const key = await api.anApiKey(owner, { scopes: ['profile:write', 'teams:read', 'teams:write', 'api-keys:write'] });
    const [method, pathOf] = REST[operation];

    for (const name of Object.values(UNREADABLE)) {
      const input = calls[operation](name, team.id);
      const fields = Object.keys(calls[operation]('', '')).filter((field) => /name$/i.test(field));
      const { teamId: _, ...body } = { teamId: '', ...input };

      const answer = await visitor.trpc[operation].mutate(input as never).catch((error: unknown) => error);
      expect(answer).toMatchObject({
        data: { problem: { code: 'validation_failed', errors: fields.map((field) => ({ pointer: `/${field}` })) } },
      });
      const sent = { method, path: `/api/v1${pathOf(team.id)}`, headers: { 'content-type': 'application/json' } };
      const { status, text } = await api.as(key.secret).send({ ...sent, body: JSON.stringify(body) });
      expect(status, text).toBeLessThan(300);
    }
  });
});
