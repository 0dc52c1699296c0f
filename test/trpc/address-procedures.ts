import { z } from 'zod';
import { appRouter } from '../../src/router.ts';
import type { Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import { anAddress, aPerson, OTHER_PASSWORD } from './people.ts';

type Procedure = {
  _def: { type: string; inputs: z.ZodType[]; meta?: { access?: { isOperatorApi?: boolean; operatorOnly?: boolean } } };
};

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>); // flat by path

/** Whether an input has an email address at any depth. */
const hasAddress = (schema: z.ZodType): boolean =>
  JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })).includes('"format":"email"');

/** Operators see accounts. */
const isForOperators = ({ _def: { meta } }: Procedure): boolean =>
  meta?.access?.isOperatorApi === true || meta?.access?.operatorOnly === true;

/** The procedures that take the email address of anybody. */
export const WITH_ADDRESS = PROCEDURES.filter(
  ([, procedure]) => procedure._def.inputs.some(hasAddress) && !isForOperators(procedure),
).map(([path]) => path);

export type Caller = { readonly visitor: Visitor; readonly teamId: string };

/** What each procedure is called with beside an address. */
export const INPUTS: Readonly<Record<string, (email: string, caller: Caller) => object>> = {
  'auth.signUp': (email) => ({ email, password: OTHER_PASSWORD }),
  'auth.signIn': (email) => ({ email, password: OTHER_PASSWORD }),
  'auth.resendVerification': (email) => ({ email }),
  'auth.emailSignInLink': (email) => ({ email }),
  'auth.forgotPassword': (email) => ({ email }),
  'account.changeEmail': (newEmail) => ({ newEmail }),
  'invitations.create': (email, { teamId }) => ({ teamId, email, roleId: 'member' }),
  createTeamInvitation: (email, { teamId }) => ({ teamId, email, roleId: 'member' }),
};

/** The accounts that an address can have. */
export const KINDS: Readonly<Record<string, (api: Api, caller: Caller) => Promise<string>>> = {
  verified: async (api: Api) => (await aPerson(api)).email,
  unverified: async (api: Api) => (await aPerson(api, { isVerified: false })).email,
  disabled: async (api: Api) => {
    const { id, email } = await aPerson(api);
    await api.rows('update account set disabled_at = now() where id = $1', [id]);
    return email;
  },
  'a member of the team that invites': async (api: Api, { teamId }: Caller) => {
    const account = await aPerson(api);
    await api.aMember({ id: teamId }, account);
    return account.email;
  },
  'without a password': async (api: Api) => (await api.anAccount({ email: anAddress() })).email,
};

/** An owner of a team. */
export async function aCaller(api: Api): Promise<Caller> {
  const account = await api.anAccount({ email: anAddress() });
  const team = await api.aTeam({ owner: account });
  return { visitor: await signedIn(api, account), teamId: team.id };
}

/** Sends the same call several times in one request. @returns what the client sees */
export async function send(api: Api, path: string, visitor: Visitor, inputs: readonly object[]) {
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`http://127.0.0.1:${api.port}/trpc/${inputs.map(() => path).join(',')}?batch=1`, {
    method: 'POST',
    headers: { ...visitor.headers, 'content-type': 'application/json', ...(cookie !== '' && { cookie }) },
    body: JSON.stringify(Object.fromEntries(inputs.entries())),
  });
  const text = await response.text();
  const cookies = response.headers.getSetCookie().map((one) => one.length);
  return { status: response.status, bytes: text.length, headers: [...response.headers.keys()], cookies };
}
