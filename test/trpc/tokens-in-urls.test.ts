import { expect, test as unitTest } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../../src/router.ts';
import { test } from '../support/api.ts';

type Procedure = { readonly _def: { readonly type: string; readonly inputs: readonly z.ZodType[] } };

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);

/** Lists the members of an input, also those of nested objects. */
function listNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return [...own, ...Object.values(schema).flatMap(listNames)];
}

const namesOf = ({ _def }: Procedure): string[] =>
  _def.inputs.flatMap((input) => listNames(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })));

const SECRET = /token|secret|password|link$|proof|signature/i;

unitTest('no query takes a token or another secret, which would be in its URL', () => {
  const queries = PROCEDURES.filter(([, { _def }]) => _def.type === 'query');
  const others = PROCEDURES.filter(([, { _def }]) => _def.type !== 'query');

  expect(queries.length).toBeGreaterThan(70);
  expect(
    queries.flatMap(([path, procedure]) => namesOf(procedure).map((name) => `${path} ${name}`)),
  ).not.toContainEqual(expect.stringMatching(SECRET));
  // The names are found where they are.
  const found = others.filter(([, procedure]) => namesOf(procedure).some((name) => SECRET.test(name)));
  expect(found.map(([path]) => path)).toEqual(
    expect.arrayContaining(['auth.checkLink', 'auth.readVerification', 'auth.readSignInLink', 'invitations.read']),
  );
});

test('a read of a link with its token in the URL is denied', async ({ api }) => {
  for (const path of ['auth.checkLink', 'auth.readVerification', 'auth.readSignInLink', 'invitations.read']) {
    const input = encodeURIComponent(JSON.stringify({ token: 'rst_inv_x', purpose: 'reset_password' }));
    const answer = await api.anonymous.send({ method: 'GET', path: `/trpc/${path}?input=${input}` });
    expect(answer.status).toBe(405);
  }
});
