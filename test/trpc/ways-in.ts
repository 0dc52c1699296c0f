import type { Api } from '../support/api.ts';
import type { createAuthenticator } from '../support/authenticator.ts';
import type { Visitor } from '../support/browser.ts';
import { anInvitationWithLink } from './console.ts';
import { anAddress, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from './people.ts';

type Authenticator = ReturnType<typeof createAuthenticator>;

/** The owner of an account in a browser that the account knows, and a passkey of the account. */
export type Owner = {
  readonly email: string;
  /** The client address. */
  readonly home: string;
  readonly visitor: Visitor;
  readonly passkey: Authenticator;
};

type Call = () => Promise<unknown>;

export type WayIn = {
  /** Whether the account has not proven its mailbox. */
  readonly isUnverified?: boolean;
  /** Whether the owner is still signed in. */
  readonly isSignedIn?: boolean;
  /** Prepares what the owner calls after strangers have used up every limit. */
  readonly prepare: (api: Api, owner: Owner) => Promise<Call> | Call;
  /** What strangers can send, which they do until it is limited; absent if they cannot call it. */
  readonly byStrangers?: (visitor: Visitor, owner: Owner) => Promise<unknown>;
};

/** Neither the password of the owner nor the one of a reset. */
export const WRONG_PASSWORD = 'patient ferry 93';

const RESET = /^Reset/;
const SIGN_IN = /sign-in link/;
const VERIFY = /^Verify/;

const present = async ({ trpc }: Visitor, passkey: Authenticator, lies?: Parameters<Authenticator['get']>[1]) =>
  trpc.passkeys.signIn.mutate({ response: passkey.get(await trpc.passkeys.signInOptions.mutate(), lies) });

async function resetLink(api: Api, { email, visitor }: Owner): Promise<string> {
  await visitor.trpc.auth.forgotPassword.mutate({ email });
  return tokenTo(api, email, RESET);
}

async function signInLink(api: Api, { email, visitor }: Owner): Promise<string> {
  await visitor.trpc.auth.emailSignInLink.mutate({ email });
  return tokenTo(api, email, SIGN_IN);
}

async function verificationLink(api: Api, { email, visitor }: Owner): Promise<string> {
  await visitor.trpc.auth.resendVerification.mutate({ email });
  return tokenTo(api, email, VERIFY);
}

/** The token of an invitation, as its email contains it. */
async function invite(api: Api, email: string): Promise<string> {
  const team = await api.aTeam();
  const { id, token } = await anInvitationWithLink(api, team, { email });
  await api.rows('update invitation_link set proves_mailbox = true where invitation_id = $1', [id]);
  return token;
}

const token = 'wrong';

/** Each public procedure that gives its owner access to an account, and what people who are signed in prove it by. */
export const WAYS_IN: Readonly<Record<string, WayIn>> = {
  'auth.signIn': {
    prepare:
      (_api, { visitor, email }) =>
      () =>
        signIn(visitor, email),
    byStrangers: (visitor, { email }) => signIn(visitor, email, WRONG_PASSWORD),
  },
  'passkeys.signIn': {
    prepare:
      (_api, { visitor, passkey }) =>
      () =>
        present(visitor, passkey),
    // The id of a passkey is no secret.
    byStrangers: (visitor, { passkey }) => present(visitor, passkey, { signature: 'AAAA' }),
  },
  'auth.emailSignInLink': {
    prepare: (api, owner) => async () =>
      owner.visitor.trpc.auth.signInWithLink.mutate({ token: await signInLink(api, owner) }),
    byStrangers: ({ trpc }, { email }) => trpc.auth.emailSignInLink.mutate({ email }),
  },
  'auth.readSignInLink': {
    prepare: async (api, owner) => {
      const link = await signInLink(api, owner);
      return () => owner.visitor.trpc.auth.readSignInLink.mutate({ token: link });
    },
    byStrangers: ({ trpc }) => trpc.auth.readSignInLink.mutate({ token }),
  },
  'auth.signInWithLink': {
    prepare: async (api, owner) => {
      const link = await signInLink(api, owner);
      return () => owner.visitor.trpc.auth.signInWithLink.mutate({ token: link });
    },
    byStrangers: ({ trpc }) => trpc.auth.signInWithLink.mutate({ token }),
  },
  'auth.forgotPassword': {
    prepare: (api, owner) => async () =>
      owner.visitor.trpc.auth.resetPassword.mutate({ token: await resetLink(api, owner), password: OTHER_PASSWORD }),
    byStrangers: ({ trpc }, { email }) => trpc.auth.forgotPassword.mutate({ email }),
  },
  'auth.checkLink': {
    prepare: async (api, owner) => {
      const link = await resetLink(api, owner);
      const { auth } = owner.visitor.trpc;
      return () => auth.checkLink.mutate({ purpose: 'reset_password', token: link });
    },
    byStrangers: ({ trpc }) => trpc.auth.checkLink.mutate({ purpose: 'reset_password', token }),
  },
  'auth.resetPassword': {
    prepare: async (api, owner) => {
      const link = await resetLink(api, owner);
      return () => owner.visitor.trpc.auth.resetPassword.mutate({ token: link, password: OTHER_PASSWORD });
    },
    byStrangers: ({ trpc }) => trpc.auth.resetPassword.mutate({ token, password: PASSWORD }),
  },
  'auth.revokeRemainingAccess': {
    prepare: async (api, owner) => {
      const { auth } = owner.visitor.trpc;
      const reset = { token: await resetLink(api, owner), password: OTHER_PASSWORD };
      const { revocationToken } = await auth.resetPassword.mutate(reset);
      return () => auth.revokeRemainingAccess.mutate({ token: revocationToken });
    },
    byStrangers: ({ trpc }) => trpc.auth.revokeRemainingAccess.mutate({ token }),
  },
  'auth.resendVerification': {
    isUnverified: true,
    prepare: (api, owner) => async () =>
      owner.visitor.trpc.auth.verifyEmail.mutate({ token: await verificationLink(api, owner), password: PASSWORD }),
    byStrangers: ({ trpc }, { email }) => trpc.auth.resendVerification.mutate({ email }),
  },
  'auth.readVerification': {
    isUnverified: true,
    prepare: async (api, owner) => {
      const link = await verificationLink(api, owner);
      return () => owner.visitor.trpc.auth.readVerification.mutate({ token: link });
    },
    byStrangers: ({ trpc }) => trpc.auth.readVerification.mutate({ token }),
  },
  'auth.verifyEmail': {
    isUnverified: true,
    prepare: async (api, owner) => {
      const link = await verificationLink(api, owner);
      return () => owner.visitor.trpc.auth.verifyEmail.mutate({ token: link, password: PASSWORD });
    },
    byStrangers: ({ trpc }) => trpc.auth.verifyEmail.mutate({ token }),
  },
  'auth.signUp': {
    // The owner of the mailbox that was invited, who has no account.
    prepare: async (api, { visitor }) => {
      const email = anAddress();
      const invitationToken = await invite(api, email);
      return () => visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken });
    },
    byStrangers: ({ trpc }) => trpc.auth.signUp.mutate({ email: anAddress(), password: OTHER_PASSWORD }),
  },
  'invitations.read': {
    prepare: async (api, { visitor, email }) => {
      const link = await invite(api, email);
      return () => visitor.trpc.invitations.read.mutate({ token: link });
    },
    byStrangers: ({ trpc }) => trpc.invitations.read.mutate({ token }),
  },
  'invitations.decline': {
    prepare: async (api, { visitor, email }) => {
      const link = await invite(api, email);
      return () => visitor.trpc.invitations.decline.mutate({ token: link });
    },
    byStrangers: ({ trpc }) => trpc.invitations.decline.mutate({ token }),
  },
  'account.confirmEmailChange': {
    isSignedIn: true,
    prepare: async (api, { visitor }) => {
      const newEmail = anAddress();
      await visitor.trpc.account.changeEmail.mutate({ newEmail });
      const link = await tokenTo(api, newEmail, /^Confirm/);
      return () => visitor.trpc.account.confirmEmailChange.mutate({ token: link });
    },
    byStrangers: ({ trpc }) => trpc.account.confirmEmailChange.mutate({ token }),
  },
  'account.changeEmail': {
    isSignedIn: true,
    prepare:
      (_api, { visitor }) =>
      () =>
        visitor.trpc.account.changeEmail.mutate({ newEmail: anAddress() }),
  },
  'account.prove': {
    isSignedIn: true,
    prepare:
      (_api, { visitor }) =>
      () =>
        visitor.trpc.account.prove.mutate({ password: PASSWORD }),
  },
  'passkeys.prove': {
    isSignedIn: true,
    prepare:
      (_api, { visitor, passkey }) =>
      async () =>
        visitor.trpc.passkeys.prove.mutate({
          response: passkey.get(await visitor.trpc.passkeys.proofOptions.mutate()),
        }),
  },
  'invitations.accept': {
    isSignedIn: true,
    prepare: async (api, { visitor, email }) => {
      const link = await invite(api, email);
      return () => visitor.trpc.invitations.accept.mutate({ token: link });
    },
  },
};

/**
 * Public procedures that need nothing of the account and are not limited, except by the requests of a client address, with
 * the query of their call.
 */
export const NO_WAYS_IN: Readonly<Record<string, string>> = {
  'auth.policy': '',
  'auth.readApplication': `?input=${encodeURIComponent(JSON.stringify({ authorizationId: 'x' }))}`,
  'auth.pendingSignUp': '',
  'auth.signOut': '',
  'passkeys.signInOptions': '',
};
