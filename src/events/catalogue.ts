/** The kind of resource that an event is about. */
export type EventTarget =
  | 'account'
  | 'session'
  | 'passkey'
  | 'team'
  | 'membership'
  | 'role'
  | 'invitation'
  | 'api_key'
  | 'oauth_client'
  | 'oauth_grant'
  | 'webhook_endpoint'
  | 'audit_log';

type EventDefinition = {
  readonly target: EventTarget | null;
  /** The readers of the event: its team, its account, or only the operator. */
  readonly audience: 'team' | 'account' | 'operator';
  /** Whether a team can subscribe to it. */
  readonly webhook: boolean;
};

/** Every event that is recorded. Names are public and stored in rows that never change: add names, never rename one. */
export const EVENTS = {
  'account.sign_up_attempted': { target: 'account', audience: 'account', webhook: false },
  'account.created': { target: 'account', audience: 'account', webhook: false },
  'account.link_emailed': { target: 'account', audience: 'account', webhook: false },
  'account.email_verified': { target: 'account', audience: 'account', webhook: false },
  'account.profile_changed': { target: 'account', audience: 'account', webhook: false },
  'account.password_changed': { target: 'account', audience: 'account', webhook: false },
  'account.password_reset': { target: 'account', audience: 'account', webhook: false },
  'account.email_change_requested': { target: 'account', audience: 'account', webhook: false },
  'account.email_changed': { target: 'account', audience: 'account', webhook: false },
  'account.reclaimed': { target: 'account', audience: 'account', webhook: false },
  'account.deleted': { target: 'account', audience: 'account', webhook: false },
  'account.email_failed': { target: 'account', audience: 'account', webhook: false },
  'session.created': { target: 'session', audience: 'account', webhook: false },
  'session.ended': { target: 'session', audience: 'account', webhook: false },
  'session.proven': { target: 'session', audience: 'account', webhook: false },
  'passkey.added': { target: 'passkey', audience: 'account', webhook: false },
  'passkey.renamed': { target: 'passkey', audience: 'account', webhook: false },
  'passkey.removed': { target: 'passkey', audience: 'account', webhook: false },
  'team.created': { target: 'team', audience: 'team', webhook: true },
  'team.renamed': { target: 'team', audience: 'team', webhook: true },
  'team.updated': { target: 'team', audience: 'team', webhook: true },
  'team.plan_set': { target: 'team', audience: 'team', webhook: true },
  'team.deleted': { target: 'team', audience: 'team', webhook: true },
  'ownership.offered': { target: 'team', audience: 'team', webhook: true },
  'ownership.offer_withdrawn': { target: 'team', audience: 'team', webhook: true },
  'ownership.declined': { target: 'team', audience: 'team', webhook: true },
  'ownership.transferred': { target: 'team', audience: 'team', webhook: true },
  'member.added': { target: 'membership', audience: 'team', webhook: true },
  'member.role_changed': { target: 'membership', audience: 'team', webhook: true },
  'member.activated': { target: 'membership', audience: 'team', webhook: true },
  'member.deactivated': { target: 'membership', audience: 'team', webhook: true },
  'member.expiry_changed': { target: 'membership', audience: 'team', webhook: true },
  'member.updated': { target: 'membership', audience: 'team', webhook: true },
  'member.left': { target: 'membership', audience: 'team', webhook: true },
  'member.removed': { target: 'membership', audience: 'team', webhook: true },
  'role.created': { target: 'role', audience: 'team', webhook: true },
  'role.updated': { target: 'role', audience: 'team', webhook: true },
  'role.deleted': { target: 'role', audience: 'team', webhook: true },
  'invitation.created': { target: 'invitation', audience: 'team', webhook: true },
  'invitation.renewed': { target: 'invitation', audience: 'team', webhook: true },
  'invitation.resent': { target: 'invitation', audience: 'team', webhook: true },
  'invitation.revoked': { target: 'invitation', audience: 'team', webhook: true },
  'invitation.declined': { target: 'invitation', audience: 'team', webhook: true },
  'invitation.accepted': { target: 'invitation', audience: 'team', webhook: true },
  'invitation.email_failed': { target: 'invitation', audience: 'team', webhook: true },
  'api_key.created': { target: 'api_key', audience: 'team', webhook: true },
  'api_key.updated': { target: 'api_key', audience: 'team', webhook: true },
  'api_key.rotated': { target: 'api_key', audience: 'team', webhook: true },
  'api_key.revoked': { target: 'api_key', audience: 'team', webhook: true },
  'oauth_client.created': { target: 'oauth_client', audience: 'account', webhook: false },
  'oauth_client.updated': { target: 'oauth_client', audience: 'account', webhook: false },
  'oauth_client.secret_rotated': { target: 'oauth_client', audience: 'account', webhook: false },
  'oauth_client.deleted': { target: 'oauth_client', audience: 'account', webhook: false },
  'oauth_grant.approved': { target: 'oauth_client', audience: 'account', webhook: false },
  'oauth_grant.created': { target: 'oauth_grant', audience: 'team', webhook: false },
  'oauth_grant.denied': { target: 'oauth_client', audience: 'account', webhook: false },
  'oauth_grant.reduced': { target: 'oauth_grant', audience: 'team', webhook: false },
  'oauth_grant.renewed': { target: 'oauth_grant', audience: 'team', webhook: false },
  'oauth_grant.revoked': { target: 'oauth_grant', audience: 'team', webhook: false },
  'oauth_token.issued': { target: 'oauth_grant', audience: 'account', webhook: false },
  'oauth_token.repeated': { target: 'oauth_grant', audience: 'account', webhook: false },
  'oauth_token.reused': { target: 'oauth_grant', audience: 'account', webhook: false },
  'oauth_token.revoked': { target: 'oauth_grant', audience: 'account', webhook: false },
  'webhook_endpoint.created': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.updated': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.paused': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.resumed': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.secret_rotated': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.tested': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.replayed': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.disabled': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'webhook_endpoint.deleted': { target: 'webhook_endpoint', audience: 'team', webhook: true },
  'operator.searched': { target: null, audience: 'operator', webhook: false },
  'operator.account_viewed': { target: 'account', audience: 'operator', webhook: false },
  'operator.team_viewed': { target: 'team', audience: 'team', webhook: false },
  'operator.account_disabled': { target: 'account', audience: 'operator', webhook: false },
  'operator.account_enabled': { target: 'account', audience: 'operator', webhook: false },
  'operator.emails_retried': { target: null, audience: 'operator', webhook: false },
  'operator.secrets_resealed': { target: null, audience: 'operator', webhook: false },
  'access.denied': { target: null, audience: 'team', webhook: false },
  'sign_in.denied': { target: 'account', audience: 'operator', webhook: false },
  'attempts.throttled': { target: null, audience: 'operator', webhook: false },
  'oauth_request.denied': { target: 'oauth_client', audience: 'operator', webhook: false },
  'denials.omitted': { target: null, audience: 'operator', webhook: false },
  'audit_log.key_changed': { target: 'audit_log', audience: 'operator', webhook: false },
  'audit_log.pruned': { target: 'audit_log', audience: 'operator', webhook: false },
} as const satisfies Readonly<Record<string, EventDefinition>>;
export type EventName = keyof typeof EVENTS;

/** Names of events in rows from before they were renamed. The rows never change, so readers map the names. */
const LEGACY_NAMES: Readonly<Record<string, EventName>> = {
  'session.began': 'session.created',
  'invitation.sent_again': 'invitation.resent',
  'team.changed': 'team.updated',
  'member.changed': 'member.updated',
  'role.changed': 'role.updated',
  'api_key.changed': 'api_key.updated',
  'oauth_client.changed': 'oauth_client.updated',
  'account.taken_over': 'account.reclaimed',
  'audit.trimmed': 'audit_log.pruned',
  'access.refused': 'access.denied',
  'sign_in.refused': 'sign_in.denied',
  'oauth_request.refused': 'oauth_request.denied',
  'refusals.omitted': 'denials.omitted',
  'account.link_mailed': 'account.link_emailed',
  'account.email_change_asked': 'account.email_change_requested',
  'oauth_grant.narrowed': 'oauth_grant.reduced',
};

const isEventName = (name: string): name is EventName => Object.hasOwn(EVENTS, name);

/** Returns the present name of a stored event, or the stored one if a newer version of the service wrote it. */
export const toEventName = (stored: string): EventName =>
  isEventName(stored) ? stored : (LEGACY_NAMES[stored] ?? (stored as EventName));
