type Notice = {
  readonly title: string;
  readonly happened: string;
  /** Whether resetting the password no longer helps. */
  readonly isFinal?: true;
};

/** Who reported a leaked secret: GitHub's secret scanning, or someone who holds it. */
export type LeakSource = 'github' | 'holder';

export type NoticeKind =
  | 'password_changed'
  | 'password_reset'
  | 'access_revoked'
  | 'passkey_added'
  | 'api_key_created'
  | 'account_deleted';

/** The content of security notices without parameters. */
export const NOTICES: Readonly<Record<NoticeKind, Notice>> = {
  password_changed: {
    title: 'Your password was changed',
    happened: 'The password of your account was changed. Its other sessions were signed out.',
  },
  password_reset: {
    title: 'Your password was reset',
    happened:
      'The password of your account was reset with an emailed link, and all sessions were signed out. Passkeys, API keys and connected apps keep their access until you revoke them.',
  },
  access_revoked: {
    title: 'All other access was revoked',
    happened:
      'All passkeys, API keys and connected apps of your account were revoked after a password reset, and its other sessions were signed out.',
  },
  passkey_added: {
    title: 'A passkey was added',
    happened: 'A passkey that can sign in was added to your account.',
  },
  api_key_created: {
    title: 'An API key was created',
    happened: 'An API key, or a new secret for one, was created in your account.',
  },
  account_deleted: {
    title: 'Your account was deleted',
    happened: 'Your account was deleted, with its API keys, passkeys and memberships.',
    isFinal: true,
  },
};
