import { describe, expect } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../../src/router.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { withKey } from './console.ts';
import { anAddress, aPerson, aService, aSignedIn, codeOf, tokenTo } from './people.ts';

type Procedure = { readonly _def: { readonly type: string; readonly inputs: readonly z.ZodType[] } };

/** The mutations whose input sets a password: it has its minimum length there, which one to verify does not have. */
function listSetters(): string[] {
  const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);
  const takesPassword = ({ _def }: Procedure): boolean =>
    _def.inputs.some((input) => {
      const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as {
        properties?: Record<string, object>;
      };
      return ['password', 'newPassword'].some((name) => name in properties && takesNew(input, name));
    });
  return procedures.filter(([, procedure]) => takesPassword(procedure)).map(([path]) => path);
}

const takesNew = (input: z.ZodType, name: string): boolean => {
  const member = (input as z.ZodObject).shape[name] as z.ZodType;
  return !member.safeParse('short').success && member.safeParse('long enough').success;
};

/** Sets a password in each way there is. */
const WAYS: Readonly<Record<string, (api: Api, password: string) => Promise<unknown>>> = {
  'auth.signUp': (api, password) => api.visitor().trpc.auth.signUp.mutate({ email: anAddress(), password }),
  'auth.verifyEmail': async (api, newPassword) => {
    const email = anAddress();
    await api.visitor().trpc.auth.signUp.mutate({ email, password: 'wandering heron 42' });
    const token = await tokenTo(api, email, /^Verify/);
    return api.visitor().trpc.auth.verifyEmail.mutate({ token, newPassword });
  },
  'auth.resetPassword': async (api, password) => {
    const { email } = await aPerson(api);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, /^Reset/);
    return api.visitor().trpc.auth.resetPassword.mutate({ token, password });
  },
  'account.changePassword': async (api, newPassword) =>
    (await aSignedIn(api)).visitor.trpc.account.changePassword.mutate({ newPassword }),
  'operatorApi.createAccount': async (api, password) =>
    withKey(api, await api.anOperatorKey()).operatorApi.createAccount.mutate({ email: anAddress(), password }),
};

/** Fewer than six characters without the names; digits and punctuation are none. */
const GUESSED = [
  'Roster2026!',
  'my acme-works key',
  'ＡＣＭＥworks1',
  'roster Roster ROSTER',
  'acmeworks+roster 123456',
  '!$%&/()=?`´*+~#,;.-_:<>| roster',
];

// Guarantees that an attacker who knows the instance has no better first guess than others.
describe('a password with the name of the product or the instance is a common one', () => {
  test('whatever sets it', async () => {
    const api = await aService({ BRAND_NAME: 'Acme Works' });
    // The operator's area runs the same procedure.
    expect(
      listSetters()
        .filter((path) => path !== 'operator.createAccount')
        .toSorted(),
    ).toEqual(Object.keys(WAYS).toSorted());

    for (const [path, set] of Object.entries(WAYS)) {
      for (const password of GUESSED)
        expect(await codeOf(set(api, password)), `${path} ${password}`).toBe('validation_failed');
      expect(await codeOf(set(api, 'only acme as a word')), path).toBe('ok');
      expect(await codeOf(set(api, 'my acme-works pass')), path).toBe('ok');
    }
  });

  test('and the answer names it', async ({ api }) => {
    const call = api.visitor().trpc.auth.signUp.mutate({ email: anAddress(), password: 'Roster2026!' });
    expect(await problemOf(call)).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining('Roster'),
      errors: [{ in: 'body', pointer: '/password', code: 'invalid_value' }],
    });
  });

  test('a name of fewer than four letters is part of too many words', async () => {
    const api = await aService({ BRAND_NAME: 'Sun' });
    expect(
      await codeOf(api.visitor().trpc.auth.signUp.mutate({ email: anAddress(), password: 'sunny afternoon 4' })),
    ).toBe('ok');
  });
});
