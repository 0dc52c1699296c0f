import type { SecretKind } from '../../src/crypto/tokens.ts';
import type { NoticeKind } from '../../src/email/notices.ts';
import type { Effect } from '../../src/procedures/effect.ts';

/** A call in `src` that makes a credential, and what leads there. */
export type Place = {
  readonly file: string;
  readonly makes: readonly (SecretKind | 'passkey' | 'webhookSecret')[];
  /** The mutations, with their effect. The proof that each needs follows from it. */
  readonly mutations: Readonly<Record<string, Effect>>;
  /** The commands and endpoints beside the router, and what proves who calls them. */
  readonly others?: Readonly<Record<string, string>>;
  /** The email that tells of it, or why there is none. */
  readonly notice: NoticeKind | 'new_device' | `none: ${string}`;
};

const all = (effect: Effect, ...mutations: readonly string[]): Record<string, Effect> =>
  Object.fromEntries(mutations.map((name) => [name, effect]));
const both = (...operations: readonly string[]): string[] =>
  operations.flatMap((name) => [`operator.${name}`, `operatorApi.${name}`]);
const commands = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`roster ${name}`, 'the shell of the server']));

const INVITES: Effect = 'widens if the role is privileged';
const ONLY_MAILBOX = 'none: only the mailbox gets the link';

/** Every call that makes a credential. */
export const PLACES: readonly Place[] = [
  {
    file: 'resources/api-keys/creation.service.ts',
    makes: ['personalKey', 'teamKey'],
    mutations: all('widens', 'createApiKey', 'apiKeys.create', 'operatorApi.createApiKey'),
    others: commands('key create', 'seed'),
    notice: 'api_key_created',
  },
  {
    file: 'resources/api-keys/rotation.service.ts',
    makes: ['personalKey', 'teamKey'],
    mutations: all('widens', 'apiKeys.rotate'),
    notice: 'api_key_rotated',
  },
  {
    file: 'resources/imports/api-keys.ts',
    makes: ['personalKey', 'teamKey'],
    mutations: all('widens', 'operatorApi.createImport'),
    others: commands('import'),
    notice: 'api_key_created',
  },
  {
    file: 'resources/operator-keys/operator-keys.service.ts',
    makes: ['operatorKey'],
    mutations: all('widens', ...both('createOperatorKey')),
    others: commands('operator-key create'),
    notice: 'operator_key_created',
  },
  {
    file: 'resources/operator-keys/operator-keys.service.ts',
    makes: ['operatorKey'],
    mutations: all('widens', ...both('rotateOperatorKey')),
    others: commands('operator-key rotate'),
    notice: 'operator_key_created',
  },
  {
    file: 'resources/oauth-clients/oauth-clients.service.ts',
    makes: ['clientSecret'],
    mutations: all(
      'widens',
      'oauthClients.create',
      'oauthClients.rotateSecret',
      ...both('createClient', 'rotateClientSecret'),
    ),
    others: commands('oauth-client create', 'oauth-client rotate-secret'),
    notice: 'oauth_client_rotated',
  },
  {
    file: 'oauth/provider.ts',
    makes: ['clientSecret'],
    mutations: {},
    others: { 'POST /oauth/register': 'nobody' },
    notice: 'none: the client reaches nothing without a consent',
  },
  {
    file: 'oauth/provider.ts',
    makes: ['authorizationCode', 'accessToken', 'refreshToken'],
    mutations: { ...all('widens', 'authorizations.approve'), ...all('none', 'authorizations.continue') },
    others: {
      'GET /oauth/authorize': 'the session: a first-party client without a page, whose tokens end with it',
      'POST /oauth/token': 'the code or refresh token',
    },
    notice: 'app_connected',
  },
  {
    file: 'resources/webhooks/endpoints.service.ts',
    makes: ['webhookSecret'],
    mutations: all('widens', 'webhooks.create', 'operatorApi.createWebhookEndpoint'),
    others: commands('webhook create'),
    notice: 'webhook_created',
  },
  {
    file: 'resources/webhooks/endpoints.service.ts',
    makes: ['webhookSecret'],
    mutations: all('widens', 'webhooks.rotateSecret', 'operatorApi.rotateWebhookSecret'),
    others: commands('webhook rotate'),
    notice: 'webhook_rotated',
  },
  {
    file: 'resources/invitations/invitations.service.ts',
    makes: ['invitation'],
    mutations: all(INVITES, 'createTeamInvitation', 'invitations.create', 'invitations.resend'),
    notice: 'invitation_sent',
  },
  {
    file: 'resources/invitations/invitations.service.ts',
    makes: ['invitation'],
    mutations: all(INVITES, 'invitations.create'),
    notice: 'invitation_sent',
  },
  {
    file: 'resources/passkeys/passkeys.service.ts',
    makes: ['passkey'],
    mutations: all('weakens', 'passkeys.register'),
    notice: 'passkey_added',
  },
  {
    file: 'resources/sessions/start-session.ts',
    makes: ['session'],
    mutations: {
      ...all('none', 'auth.signUp', 'auth.verifyEmail', 'auth.signIn', 'auth.signInWithLink', 'passkeys.signIn'),
      ...all('weakens', 'account.changePassword'),
    },
    notice: 'new_device',
  },
  {
    file: 'resources/sign-in/sign-up-attempts.ts',
    makes: ['session'],
    mutations: all('none', 'auth.signUp', 'auth.signIn'),
    notice: 'none: nobody has an account yet',
  },
  {
    file: 'resources/sign-in/sign-up-attempts.ts',
    makes: ['emailVerification'],
    mutations: all('none', 'auth.signUp', 'auth.resendVerification'),
    notice: ONLY_MAILBOX,
  },
  {
    file: 'resources/accounts/email-link-token.ts',
    makes: ['emailVerification', 'passwordReset', 'signInLink'],
    mutations: {
      ...all('none', 'auth.resendVerification', 'auth.forgotPassword', 'auth.emailSignInLink', ...both('sendLink')),
      ...all('weakens', 'account.changeEmail'),
    },
    notice: ONLY_MAILBOX,
  },
];
