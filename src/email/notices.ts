/** The browser and the location of a client, as far as they are known. */
export type ClientOrigin = Readonly<Record<'browser' | 'os' | 'country' | 'city', string | null>>;

/** Who reported a leaked secret: GitHub's secret scanning, or someone who holds it. */
export type LeakSource = 'github' | 'holder';

type PageOf = (teamId: string | null) => string;

const account =
  (section: string): PageOf =>
  () =>
    `/account#${section}`;

const team =
  (page: string, otherwise = '/'): PageOf =>
  (teamId) =>
    teamId === null ? otherwise : `/teams/${encodeURIComponent(teamId)}${page}`;

const reset: PageOf = () => '/forgot-password';

/**
 * Every notice of a change of the access to an account, and the page where its reader ends what changed. Null if nothing
 * is left that could be ended.
 */
export const NOTICE_PAGES = {
  password_changed: reset,
  password_reset: reset,
  access_revoked: account('activity'),
  email_change_requested: reset,
  email_changed: account('email'),
  email_removed: account('email'),
  passkey_added: account('passkeys'),
  passkey_removed: account('passkeys'),
  api_key_created: team('/api-keys', '/api-keys'),
  api_key_rotated: team('/api-keys', '/api-keys'),
  api_key_widened: team('/api-keys', '/api-keys'),
  app_connected: account('apps'),
  oauth_client_created: () => '/developer',
  oauth_client_changed: () => '/developer',
  oauth_client_rotated: () => '/developer',
  webhook_created: team('/webhooks', '/operator/webhooks'),
  webhook_changed: team('/webhooks', '/operator/webhooks'),
  webhook_rotated: team('/webhooks', '/operator/webhooks'),
  invitation_sent: team('/invitations'),
  role_given: team('/members'),
  role_widened: team('/roles'),
  ownership_offer_made: team('/settings'),
  ownership_transferred: team('/members'),
  team_deleted: account('activity'),
  operator_added: () => '/operator/accounts',
  operator_key_created: () => '/operator/keys',
  operator_client_changed: () => '/operator/clients',
  role_template_widened: () => '/operator/audit',
  account_enabled: account('apps'),
  account_deleted: null,
} as const satisfies Readonly<Record<string, PageOf | null>>;

/** The kinds of notices of a change of the access to an account. */
export type NoticeKind = keyof typeof NOTICE_PAGES;

/** The permission that each of these pages of a team needs, as its route declares it; `member` is none. */
export const TEAM_PAGE_ACCESS: Readonly<Record<string, string>> = {
  '/members': 'access_dashboard',
  '/roles': 'access_dashboard',
  '/invitations': 'invite_members',
  '/api-keys': 'manage_api_keys',
  '/webhooks': 'edit_team_settings',
  '/settings': 'member',
};

/**
 * Returns the path of the page where the reader of a notice ends what changed: that of their own activity, sessions and
 * keys if they may not see the page of the team. @returns null if nothing is left that could be ended
 */
export function findNoticePage({ kind, teamId = null, permissions }: NoticeReader): string | null {
  const page = NOTICE_PAGES[kind];
  if (page === null) return null;
  const path = page(teamId);
  const access = teamId === null ? undefined : TEAM_PAGE_ACCESS[path.slice(path.lastIndexOf('/'))];
  if (access === undefined || permissions === undefined) return path;
  const maySee = permissions !== null && (access === 'member' || permissions.includes(access));
  return maySee ? path : account('activity')(null);
}

type NoticeReader = Pick<Notice, 'kind' | 'teamId' | 'permissions'>;

/** What one notice is about. Users have chosen the texts. */
export type NoticeSubject = {
  /** The name of the key, application, role … */
  readonly thing?: string | undefined;
  /** The person who gets access by it. */
  readonly person?: string | undefined;
  readonly teamId?: string | null | undefined;
};

/** One of several things that are told in one email: with the person who gets access by it, if there is one. */
export type NoticeThing = string | { readonly thing: string; readonly person: string };

/** When something was caused, by which credential and from where. */
export type NoticeCause = {
  /** In ISO 8601. */
  readonly at: string;
  readonly by: 'session' | 'api_key' | 'app' | 'operator' | 'link';
  /** The id of the API key or the OAuth client. */
  readonly byId: string | null;
  readonly origin: ClientOrigin;
};

/** A notice whose names were read. */
export type Notice = NoticeSubject & {
  readonly kind: NoticeKind;
  /** How often it happened since the last email of its kind, team and cause; then `things` are the first of them. */
  readonly number?: number;
  readonly things?: readonly NoticeThing[];
  readonly teamName?: string | null;
  readonly byName?: string | null;
  /** Those of its reader in the team; null if they are no active member. */
  readonly permissions?: readonly string[] | null;
  /** Absent in emails that the previous version queued. */
  readonly cause?: NoticeCause;
};
