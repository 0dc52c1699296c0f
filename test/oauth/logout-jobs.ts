import { newId } from '../../src/entities/index.ts';
import { deleteAccount } from '../../src/resources/accounts/deletion.service.ts';
import { disableAccount, endAllSessions } from '../../src/resources/accounts/accounts.service.ts';
import { CLEANUPS } from '../../src/jobs/cleanup.ts';
import type { Api } from '../support/api.ts';
import type { Visitor } from '../support/browser.ts';
import { anEmailedInvitation, type Owner } from '../trpc/sessions-started.ts';
import { OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from '../trpc/people.ts';
import { firstPartyTokens, sessionOf } from './first-party-flow.ts';
import { browse } from './flow.ts';
import type { AClient } from '../support/factories.ts';

/** The client that is told, and the account whose session ends, in its browser. */
export type Ending = {
  readonly client: AClient;
  readonly owner: Owner;
  readonly visitor: Visitor;
  readonly idToken: string;
};

type Way = (api: Api, ending: Ending) => Promise<unknown>;

async function resetPassword(api: Api, { owner }: Ending): Promise<string> {
  await api.visitor().trpc.auth.forgotPassword.mutate({ email: owner.email });
  return tokenTo(api, owner.email, /^Reset/);
}

/** Another browser of the account. */
async function elsewhere(api: Api, { owner }: Ending): Promise<Visitor> {
  const visitor = api.visitor();
  await signIn(visitor, owner.email, owner.password);
  return visitor;
}

const runCleanup = (api: Api) => api.rows(CLEANUPS.cleanup_logins.batch(api.services.config));

const expire =
  (column: 'expires_at' | 'idle_expires_at'): Way =>
  async (api, { visitor }) => {
    const session = await sessionOf(api, visitor);
    await api.rows(`update session set ${column} = now() - interval '1 ms' where id = $1`, [session]);
    // The worker that sends the mails of these tests runs the cleanup each minute, too. It may have looked at the session
    // before, and would look again when that was to expire; or look now, and its job is there once it let go of the rows.
    await api.rows(`update oauth_token_family set logout_check_at = now() - interval '1 ms' where session_id = $1`, [
      session,
    ]);
    await runCleanup(api);
    await api.rows('select from oauth_token_family where session_id = $1 for update', [session]);
  };

/** Each file of `src` that ends sessions, and the ways in which it does. */
export const ENDINGS: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
  'resources/sign-in/sign-in.service.ts': {
    'signed out': (_api, { visitor }) => visitor.trpc.auth.signOut.mutate(),
    'signed in again': (_api, { visitor, owner }) => signIn(visitor, owner.email, owner.password),
  },
  'resources/sign-in/sign-in-link.service.ts': {
    'signed in by a link': async (api, { visitor, owner }) => {
      await visitor.trpc.auth.emailSignInLink.mutate({ email: owner.email });
      await visitor.trpc.auth.signInWithLink.mutate({ token: await tokenTo(api, owner.email, /sign-in link/) });
    },
  },
  'resources/sign-in/invited-sign-up.service.ts': {
    'signed up by an invitation': async (api, { visitor }) => {
      const email = `${newId('x')}@example.com`;
      const invitationToken = await anEmailedInvitation(api, email);
      await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken });
    },
  },
  'resources/sign-in/verification.service.ts': {
    'verified another sign-up': async (api, { visitor }) => {
      const email = `${newId('x')}@example.com`;
      await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
      await visitor.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, /^Verify/), password: PASSWORD });
    },
  },
  'resources/sign-in/prove-mailbox.ts': {
    'reclaimed by the mailbox': async (api, ending) => {
      await api.rows('update account set email_verified_at = null where id = $1', [ending.owner.id]);
      const token = await resetPassword(api, ending);
      await api.visitor().trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
    },
  },
  'resources/sign-in/password.service.ts': {
    'password reset': async (api, ending) => {
      const token = await resetPassword(api, ending);
      await api.visitor().trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
    },
  },
  'resources/sign-in/remaining-access.ts': {
    'revoked after a change of the password': async (api, ending) => {
      const other = await elsewhere(api, ending);
      const { revocationToken } = await other.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });
      // A session that began after the change.
      await signIn(ending.visitor, ending.owner.email, OTHER_PASSWORD);
      await firstPartyTokens(api, ending, { scope: 'openid' });
      await api.rows('delete from graphile_worker._private_jobs');
      await other.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken });
    },
  },
  'resources/passkeys/passkeys.service.ts': {
    'signed in by a passkey': async (_api, { visitor, owner }) => {
      const options = await visitor.trpc.passkeys.signInOptions.mutate();
      await visitor.trpc.passkeys.signIn.mutate({ response: owner.passkey.get(options) });
    },
  },
  'resources/sessions/sessions.service.ts': {
    'signed out on the list': async (api, ending) => {
      const other = await elsewhere(api, ending);
      await other.trpc.revokeMySession.mutate({ sessionId: await sessionOf(api, ending.visitor) });
    },
    'signed out everywhere else': async (api, ending) =>
      (await elsewhere(api, ending)).trpc.sessions.revokeOthers.mutate(),
  },
  'resources/accounts/password.service.ts': {
    'password changed': async (_api, { visitor }) =>
      visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD }),
  },
  'resources/accounts/accounts.service.ts': {
    'disabled by the operator': (api, { owner }) => disableAccount(api.services.db, 'system', owner.id),
    'ended by the operator': (api, { owner }) => endAllSessions(api.services.db, 'system', owner.id),
  },
  'resources/accounts/deletion.service.ts': {
    'account deleted': (_api, { visitor }) => visitor.trpc.account.delete.mutate(),
    'account deleted by the operator': (api, { owner }) => deleteAccount(api.services.db, 'system', owner.id),
  },
  'resources/openid/logout.service.ts': {
    'signed out by an application': (api, { visitor, idToken }) =>
      browse(api, visitor)(`/oauth/logout?id_token_hint=${idToken}`),
  },
  'jobs/cleanup.ts': { expired: expire('expires_at'), idle: expire('idle_expires_at') },
};

type Job = {
  payload: { sessionId: string; accountId: string; clientId: string };
  attempts: number;
  last_error: string | null;
};

/** The logouts that wait for being sent to a client. */
export const waitingJobs = (api: Api, { id }: AClient) =>
  api.rows<Job>(
    `select j.payload, j.attempts, j.last_error from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'sendLogout' and j.payload->>'clientId' = $1 order by j.id`,
    [id],
  );

/** A first-party client that is told at a URL. */
export async function aToldClient(api: Api, uri = 'https://app.example/logout') {
  const client = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
  await api.rows('update oauth_client set backchannel_logout_uri = $2 where id = $1', [client.id, uri]);
  return client;
}
