import { hashSecret } from '../../src/crypto/tokens.ts';
import { disableAccount } from '../../src/resources/accounts/accounts.service.ts';
import type { Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { cookieName, type Visitor } from '../support/browser.ts';
import { anInvitationWithLink } from './console.ts';
import { anAddress, aPerson, codeOf, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from './people.ts';

/** An account with a password and a passkey, signed in by its password in a browser of its own. */
export type Owner = {
  readonly id: string;
  readonly email: string;
  readonly home: Visitor;
  readonly passkey: ReturnType<typeof createAuthenticator>;
  password: string;
};

export async function anOwner(api: Api): Promise<Owner> {
  const { id, email } = await aPerson(api);
  const home = api.visitor();
  await signIn(home, email);
  const passkey = createAuthenticator();
  const { passkeys } = home.trpc;
  await passkeys.register.mutate({
    name: 'A passkey',
    response: passkey.create(await passkeys.registrationOptions.mutate()),
  });
  return { id, email, home, passkey, password: PASSWORD };
}

const unverify = (api: Api, { id }: Owner) =>
  api.rows(`update account set email_verified_at = null, created_by = 'operator' where id = $1`, [id]);

async function resetPassword(api: Api, owner: Owner): Promise<void> {
  const { auth } = api.visitor().trpc;
  await auth.forgotPassword.mutate({ email: owner.email });
  const token = await tokenTo(api, owner.email, /^Reset/);
  owner.password = OTHER_PASSWORD;
  await auth.resetPassword.mutate({ token, password: owner.password });
}

/** What an account can have become before a way is tried. `unverified` and `invited` are made by the operator. */
export const STATES = {
  active: () => Promise.resolve(),
  disabled: (api, { id }) => disableAccount(api.services.db, 'system', id),
  unverified: unverify,
  /** Without a password and a passkey, and never signed in. */
  invited: async (api, owner) => {
    await unverify(api, owner);
    await api.rows('update account set password_hash = null where id = $1', [owner.id]);
    await api.rows('delete from passkey where account_id = $1', [owner.id]);
    await api.rows('delete from session where account_id = $1', [owner.id]);
  },
  reset: resetPassword,
  deleted: (_api, { home }) => home.trpc.account.delete.mutate(),
  /** The sign-up is closed: the service runs with `SIGNUP=closed`. */
  closed: () => Promise.resolve(),
} as const satisfies Record<string, (api: Api, owner: Owner) => Promise<unknown>>;

export type State = keyof typeof STATES;

type Way = {
  /** Prepares the call before the state changes, such as its link. @returns the call, and the browser that makes it */
  readonly prepare: (
    api: Api,
    owner: Owner,
  ) => Promise<{ readonly visitor: Visitor; readonly call: () => Promise<unknown> }>;
  /** The methods that its session then proves, `no session`, or the code of the problem. */
  readonly outcomes: Readonly<Record<State, string>>;
};

async function aVerificationLink(api: Api, owner: Owner): Promise<string> {
  await unverify(api, owner);
  await api.visitor().trpc.auth.resendVerification.mutate({ email: owner.email });
  const token = await tokenTo(api, owner.email, /^Verify/);
  await api.rows(`update account set email_verified_at = now(), created_by = null where id = $1`, [owner.id]);
  return token;
}

async function aSignInLink(api: Api, { email }: Owner): Promise<string> {
  await api.visitor().trpc.auth.emailSignInLink.mutate({ email });
  return tokenTo(api, email, /sign-in link/);
}

export async function anEmailedInvitation(api: Api, email: string): Promise<string> {
  const { token } = await anInvitationWithLink(api, await api.aTeam(), { email });
  return token;
}

/** Makes a call in a browser that has no session. */
const elsewhere = (api: Api, call: (visitor: Visitor) => Promise<unknown>) => {
  const visitor = api.visitor();
  return { visitor, call: () => call(visitor) };
};

const everywhere = (outcome: string, others: Partial<Record<State, string>>) => ({
  active: outcome,
  disabled: outcome,
  unverified: outcome,
  invited: outcome,
  reset: outcome,
  deleted: outcome,
  closed: outcome,
  ...others,
});

/** Every procedure that can start or continue a session or add a proof to one, and what comes of it in each state. */
export const WAYS: Readonly<Record<string, Way>> = {
  'auth.signIn': {
    prepare: async (api, owner) => elsewhere(api, (visitor) => signIn(visitor, owner.email, owner.password)),
    outcomes: everywhere('password', {
      disabled: 'sign_in_failed',
      invited: 'sign_in_failed',
      deleted: 'sign_in_failed',
    }),
  },
  'passkeys.signIn': {
    prepare: async (api, { passkey }) =>
      elsewhere(api, async ({ trpc: { passkeys } }) =>
        passkeys.signIn.mutate({ response: passkey.get(await passkeys.signInOptions.mutate()) }),
      ),
    outcomes: everywhere('passkey', {
      disabled: 'passkey_refused',
      invited: 'passkey_refused',
      deleted: 'passkey_refused',
    }),
  },
  'auth.signInWithLink': {
    prepare: async (api, owner) => {
      const token = await aSignInLink(api, owner);
      return elsewhere(api, ({ trpc }) => trpc.auth.signInWithLink.mutate({ token }));
    },
    // A link proves the mailbox, which is all that an unverified account lacks.
    outcomes: everywhere('link', { disabled: 'link_invalid', reset: 'link_invalid', deleted: 'link_invalid' }),
  },
  'auth.signInWithLink in the browser of a session': {
    prepare: async (api, owner) => {
      const token = await aSignInLink(api, owner);
      return { visitor: owner.home, call: () => owner.home.trpc.auth.signInWithLink.mutate({ token }) };
    },
    // What was obtained before the proof of the mailbox does not outlive it.
    outcomes: everywhere('link password', {
      disabled: 'link_invalid',
      unverified: 'link',
      invited: 'link',
      reset: 'link_invalid',
      deleted: 'link_invalid',
    }),
  },
  'auth.verifyEmail with the password': {
    prepare: async (api, owner) => {
      const token = await aVerificationLink(api, owner);
      return elsewhere(api, ({ trpc }) => trpc.auth.verifyEmail.mutate({ token, password: owner.password }));
    },
    outcomes: everywhere('link_invalid', { unverified: 'link password', invited: 'password_wrong' }),
  },
  'auth.verifyEmail with a new password': {
    prepare: async (api, owner) => {
      const token = await aVerificationLink(api, owner);
      return elsewhere(api, ({ trpc }) => trpc.auth.verifyEmail.mutate({ token, newPassword: OTHER_PASSWORD }));
    },
    outcomes: everywhere('link_invalid', { unverified: 'link', invited: 'link' }),
  },
  'auth.signUp': {
    prepare: async (api, { email }) =>
      elsewhere(api, ({ trpc }) => trpc.auth.signUp.mutate({ email, password: OTHER_PASSWORD })),
    outcomes: everywhere('no session', { closed: 'sign_up_closed' }),
  },
  'auth.signUp by an emailed invitation': {
    prepare: async (api, { email }) => {
      const invitationToken = await anEmailedInvitation(api, email);
      return elsewhere(api, ({ trpc }) =>
        trpc.auth.signUp.mutate({ email, password: OTHER_PASSWORD, invitationToken }),
      );
    },
    outcomes: everywhere('account_exists', {
      disabled: 'account_disabled',
      unverified: 'link',
      invited: 'link',
      deleted: 'link_invalid',
      closed: 'sign_up_closed',
    }),
  },
  'account.changePassword': {
    prepare: async (_api, { home }) => ({
      visitor: home,
      call: () => home.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD }),
    }),
    // A new password proves nothing.
    outcomes: everywhere('credential_invalid', {
      active: 'password',
      unverified: 'password',
      deleted: 'credential_missing',
      closed: 'password',
    }),
  },
  'account.prove': {
    prepare: async (_api, owner) => ({
      visitor: owner.home,
      call: () => owner.home.trpc.account.prove.mutate({ password: owner.password }),
    }),
    outcomes: everywhere('credential_invalid', {
      active: 'password',
      unverified: 'password',
      deleted: 'credential_missing',
      closed: 'password',
    }),
  },
  'passkeys.prove': {
    prepare: async (_api, { home, passkey }) => ({
      visitor: home,
      call: async () =>
        home.trpc.passkeys.prove.mutate({ response: passkey.get(await home.trpc.passkeys.proofOptions.mutate()) }),
    }),
    outcomes: everywhere('credential_invalid', {
      active: 'passkey password',
      unverified: 'passkey password',
      deleted: 'credential_missing',
      closed: 'passkey password',
    }),
  },
};

/** The procedure of a way. */
export const pathOf = (way: string): string => way.split(' ')[0] ?? way;

/** Ways in of somebody who has no account, by what `SIGNUP` is. */
export const SIGN_UPS: Readonly<
  Record<
    string,
    {
      readonly call: (api: Api, visitor: Visitor) => Promise<unknown>;
      readonly outcomes: Readonly<Record<'open' | 'invited' | 'closed', string>>;
    }
  >
> = {
  'auth.signUp': {
    call: (_api, { trpc }) => trpc.auth.signUp.mutate({ email: anAddress(), password: PASSWORD }),
    outcomes: { open: 'no session', invited: 'sign_up_closed', closed: 'sign_up_closed' },
  },
  'auth.signUp by an emailed invitation': {
    call: async (api, { trpc }) => {
      const email = anAddress();
      const invitationToken = await anEmailedInvitation(api, email);
      await trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken });
    },
    outcomes: { open: 'link', invited: 'link', closed: 'sign_up_closed' },
  },
  'auth.verifyEmail in the browser that signed up': {
    call: async (api, { trpc }) => {
      const token = await signUpWithCopiedLink(api, trpc);
      await trpc.auth.verifyEmail.mutate({ token });
    },
    outcomes: { open: 'link', invited: 'link', closed: 'sign_up_closed' },
  },
  'auth.verifyEmail elsewhere with the password': {
    call: async (api, { trpc }) => {
      const token = await signUpWithCopiedLink(api, api.visitor().trpc);
      await trpc.auth.verifyEmail.mutate({ token, password: PASSWORD });
    },
    outcomes: { open: 'link password', invited: 'link password', closed: 'sign_up_closed' },
  },
};

/** Signs up by a copied link, which proves no mailbox. @returns the token of the verification link */
async function signUpWithCopiedLink(api: Api, trpc: Visitor['trpc']): Promise<string> {
  const email = anAddress();
  const { id, token: invitationToken } = await anInvitationWithLink(api, await api.aTeam(), { email });
  await api.rows('update invitation_link set proves_mailbox = false where invitation_id = $1', [id]);
  await trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken });
  return tokenTo(api, email, /^Verify/);
}

/** What the session of a browser proves, or that it has none. */
export async function methodsOf(api: Api, { cookies, baseUrl }: Visitor): Promise<string> {
  const [row] = await api.rows<{ proofs: Record<string, string> }>(
    'select proofs from session where token_hash = $1 and revoked_at is null',
    [hashSecret(cookies.get(cookieName('session', baseUrl)) ?? '')],
  );
  return row === undefined ? 'no session' : Object.keys(row.proofs).toSorted().join(' ');
}

/** Makes a call. @returns the methods of its browser's session, or the code of the problem */
export async function outcomeIn(api: Api, visitor: Visitor, call: () => Promise<unknown>): Promise<string> {
  const code = await codeOf(call());
  return code === 'ok' ? methodsOf(api, visitor) : code;
}
