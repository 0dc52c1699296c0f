import type { Outputs } from '../api-types.ts';
import type { TeamEvent } from './audit.ts';
import { definePageTexts } from './define-page-texts.ts';

type EventType = Outputs['account']['activity']['events'][number]['event'];

/** Events that the activity of an account never shows: those for operators, and the deletion of the account. */
type Unseen =
  | `${'access' | 'attempts' | 'audit_log' | 'denials' | 'import' | 'oauth_request' | 'operator' | 'operator_key' | 'permission_catalogue' | 'role_template' | 'sign_in'}.${string}`
  | `${string}.private_metadata_changed`
  | 'account.deleted';

/** Every other event has a sentence. Those of teams have one in their audit logs, and here if the user is addressed. */
type OwnSentences = Readonly<Record<Exclude<EventType, TeamEvent | Unseen>, string>> &
  Readonly<Partial<Record<TeamEvent, string>>>;

/** Texts of the account page, and of the link that confirms a new email. */
export const accountTexts = definePageTexts('account', {
  title: 'Your account',
  profile: {
    title: 'Profile',
    explanation: 'Your name is shown to the members of your teams.',
    locale: 'Language and region',
    localeHint: 'Of the console and of emails, with the format of dates and numbers.',
    localeOfBrowser: 'Browser default',
    saved: 'Profile saved.',
  },
  email: {
    title: 'Email',
    explanation: 'You sign in with it and receive emails at it.',
    current: 'Current email',
    verified: 'Verified',
    unverified: 'Not verified',
    new: 'New email',
    submit: 'Change email',
    sent: 'Open the link sent to {email} to confirm the change.',
  },
  password: {
    title: 'Password',
    explanation: 'Changing it signs out your other sessions.',
    submit: 'Change password',
    changed: 'Password changed.',
  },
  passkeys: {
    title: 'Passkeys',
    explanation: 'Sign in with your fingerprint, your face or a security key, without a password.',
    none: 'You have no passkeys.',
    unsupported: 'This browser does not support passkeys.',
    add: 'Add passkey',
    name: 'Name',
    nameHint: 'To recognize it later, for example the device it is on.',
    created: 'Added {date}',
    used: 'last used {date}',
    unused: 'never used',
    rename: 'Rename',
    renameOf: 'Rename the passkey {name}',
    remove: 'Remove',
    removeOf: 'Remove the passkey {name}',
    removeTitle: 'Remove the passkey?',
    removeExplanation: 'You can no longer sign in with “{name}”. Delete it on your device as well.',
    added: 'Passkey added.',
    removed: 'Passkey removed.',
    renamed: 'Passkey renamed.',
  },
  sessions: {
    title: 'Sessions',
    explanation:
      'Devices and browsers that are signed in to your account. Sign out sessions that you do not recognize.',
    unknownDevice: 'Unknown device',
    on: '{browser} on {os}',
    unknownLocation: 'Unknown location',
    since: 'since {date}',
    used: 'last used {date}',
    application: 'Used by “{client}”',
    current: 'This session',
    revoke: 'Sign out',
    revokeOf: 'Sign out {device}',
    revoked: 'Session signed out.',
    others: 'Sign out everywhere else',
    othersDone: '{count, plural, one {# session signed out.} other {# sessions signed out.}}',
  },
  activity: {
    title: 'Activity',
    explanation:
      'What you did and what happened to your account, newest first. IP addresses are those of your own actions.',
    others: 'Another user',
  },
  events: {
    'account.sign_up_attempted': 'Someone tried to sign up with your email',
    'account.created': 'Account created',
    'account.link_emailed': 'Link sent to your email',
    'account.email_verified': 'Email verified',
    'account.profile_changed': 'Profile changed',
    'account.metadata_changed': 'Data of the application about the account changed',
    'account.password_changed': 'Password changed',
    'account.password_reset': 'Password reset',
    'account.email_change_requested': 'Change of email requested',
    'account.email_changed': 'Email changed',
    'account.reclaimed': 'Account secured after its email was verified',
    'account.email_failed': 'An email to you could not be sent',
    'session.created': 'Signed in',
    'session.ended': 'Signed out',
    'session.proven': 'Identity confirmed',
    'passkey.added': 'Passkey added',
    'passkey.renamed': 'Passkey renamed',
    'passkey.removed': 'Passkey removed',
    'oauth_client.created': 'OAuth client created',
    'oauth_client.updated': 'OAuth client changed',
    'oauth_client.secret_rotated': 'Secret of an OAuth client rotated',
    'oauth_client.deleted': 'OAuth client deleted',
    'oauth_grant.approved': 'Access of an app approved',
    'oauth_grant.denied': 'Access of an app denied',
    'oauth_token.issued': 'An app got a token',
    'oauth_token.repeated': 'An app repeated a request for a token',
    'oauth_token.reused': 'A used token was used again, so its app was disconnected',
    'oauth_token.revoked': 'An app revoked its token',
  } satisfies OwnSentences,
  data: {
    title: 'Your data',
    explanation:
      'Everything that is stored about you, as a JSON file: profile, sessions, passkeys, memberships, API keys, apps and activity. It contains no passwords or secrets.',
    download: 'Download my data',
    saved: 'Data downloaded.',
  },
  deletion: {
    title: 'Delete account',
    explanation: 'This also deletes your memberships, sessions, passkeys and API keys. This cannot be undone.',
    open: 'Delete account…',
    confirmTitle: 'Delete your account?',
    confirm:
      'Teams of which you are the only member are deleted too. Transfer or delete teams with other members first.',
    submit: 'Delete account',
    done: 'Account deleted.',
  },
  emailChange: {
    title: 'Confirm your new email address',
    explanation: 'You will sign in with it and receive emails at it.',
    submit: 'Confirm email',
    doneTitle: 'Email address changed',
    done: 'Sign in with the new email from now on.',
  },
});
