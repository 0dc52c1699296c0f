/** Who reported a leaked secret: GitHub's secret scanning, or someone who holds it. */
export type LeakSource = 'github' | 'holder';

/** The kinds of security notices without parameters. */
export type NoticeKind =
  | 'password_changed'
  | 'password_reset'
  | 'access_revoked'
  | 'passkey_added'
  | 'api_key_created'
  | 'account_deleted';
