import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyTRPCProcedure } from '@trpc/server';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { DATA } from '../../src/events/data.ts';
import { consoleReads } from '../../src/mcp/console-reads.ts';
import { apiRouter, appRouter } from '../../src/router.ts';
import { test } from '../support/api.ts';
import { problemOf, signedIn } from '../support/browser.ts';
import { outcomeOf } from './console.ts';

type Schema = z.core.JSONSchema.BaseSchema;
type Declared = { readonly inputs: readonly z.ZodType[]; readonly output?: z.ZodType };

/** All parts of a schema that describe an object. */
function objectsIn(node: unknown): Schema[] {
  if (typeof node !== 'object' || node === null) return [];
  const { properties } = node as Schema;
  return [
    ...(typeof properties === 'object' ? [node as Schema] : []),
    ...Object.values(node).flatMap((member) => objectsIn(member)),
  ];
}

const objectsOf = (schema: z.ZodType, io: 'input' | 'output'): Schema[] => objectsIn(z.toJSONSchema(schema, { io }));

const FORMER = /^(userId|.+UserId)$/;
const presentName = (former: string): string => former.replace('userId', 'accountId').replace('UserId', 'AccountId');

const ROOT = join(import.meta.dirname, '../..');

type Calls = Record<string, Record<string, Record<string, (input: object) => Promise<unknown>>>>;

/** Everything but the operations of `/api/v1`. */
const procedures = Object.entries<AnyTRPCProcedure>(appRouter._def.procedures as never) // flat by path
  .filter(([path]) => !(path in apiRouter._def.procedures));

const schemas: readonly (readonly [of: string, objects: readonly Schema[]])[] = [
  ...procedures.map(([path, { _def }]) => {
    const { inputs, output } = _def as unknown as Declared;
    const ofInput = inputs.flatMap((schema) => objectsOf(schema, 'input'));
    return [path, [...ofInput, ...(output ? objectsOf(output, 'output') : [])]] as const;
  }),
  ...consoleReads.map(
    ({ operationId, input, output }) =>
      [operationId, [...(input ? objectsOf(input, 'input') : []), ...objectsOf(output, 'output')]] as const,
  ),
  ...Object.entries(DATA).map(([kind, schema]) => [`data.${kind}`, objectsOf(schema, 'output')] as const),
];

describe('the id of a member', () => {
  test('is named accountId wherever its former name is still there, which is marked as deprecated', () => {
    const former = schemas.flatMap(([of, objects]) =>
      objects.flatMap(({ properties = {} }) =>
        Object.entries(properties)
          .filter(([name]) => FORMER.test(name))
          .map(([name, member]) => ({
            of: `${of}.${name}`,
            isNamed: presentName(name) in properties,
            isMarked: (member as Schema).deprecated === true,
          })),
      ),
    );

    expect(schemas.length).toBeGreaterThan(150);
    expect(former.length).toBeGreaterThan(20);
    expect(former.filter(({ isNamed, isMarked }) => !isNamed || !isMarked)).toEqual([]);
  });

  test('is not called by its former name in the console, nor in the documents of the client', () => {
    const files = [...globSync('src/web/**/*.{ts,tsx}', { cwd: ROOT }), 'clients/typescript/README.md'];
    const former = files.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => /\b(userId|responsibleUserId)\b/.test(line) && !line.includes('removeTeamMember'))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(former).toEqual([]);
  });

  test('is rejected by every procedure if its two names differ', async ({ api }) => {
    const [owner, member, other] = await Promise.all([api.anAccount(), api.anAccount(), api.anAccount()]);
    const team = await api.aTeam({ owner });
    await api.aMember(team, member);
    const { trpc } = await signedIn(api, owner);
    const twoNamed = procedures.filter(([, { _def }]) =>
      (_def as unknown as Declared).inputs.some((schema) =>
        objectsOf(schema, 'input').some(({ properties = {} }) => 'userId' in properties),
      ),
    );
    expect(twoNamed.length).toBeGreaterThan(6);

    const input = { teamId: team.id, accountId: member.id, userId: other.id, roleId: 'guest', expiresAt: null };
    for (const [path, { _def }] of twoNamed) {
      const [area = '', name = ''] = path.split('.');
      const call = (trpc as unknown as Calls)[area]?.[name]?.[_def.type === 'query' ? 'query' : 'mutate'];
      expect([path, await problemOf(call?.(input) ?? Promise.resolve())]).toMatchObject([
        path,
        { status: 400, errors: [{ pointer: '/accountId', code: 'invalid_value' }] },
      ]);
    }
  });

  test('is accepted by both names, and rejected if they differ or are missing', async ({ api }) => {
    const [owner, member, other] = await Promise.all([api.anAccount(), api.anAccount(), api.anAccount()]);
    const team = await api.aTeam({ owner });
    await api.aMember(team, member);
    const { trpc } = await signedIn(api, owner);
    const teamId = team.id;
    const deactivate = (of: { accountId?: string; userId?: string }) =>
      trpc.members.deactivate.mutate({ teamId, ...of });

    const ids = { accountId: member.id, userId: member.id };
    expect(await deactivate({ accountId: member.id })).toMatchObject({ ...ids, isActive: false });
    expect(await deactivate({ userId: member.id })).toMatchObject({ ...ids, isActive: false });
    expect(await outcomeOf(deactivate(ids))).toBe('done');
    expect(await problemOf(deactivate({}))).toMatchObject({
      status: 400,
      errors: [{ pointer: '/accountId', code: 'required' }],
    });
    expect(await problemOf(deactivate({ accountId: member.id, userId: other.id }))).toMatchObject({
      status: 400,
      errors: [{ pointer: '/accountId', code: 'invalid_value' }],
    });
  });
});
