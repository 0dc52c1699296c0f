import type { Permission, Scope } from '../entities/index.ts';
import type { DataKind } from './data.ts';
import type { DetailName } from './details.ts';

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
  | 'operator_key'
  | 'audit_log';

export type EventDefinition = {
  /** Raised when a field is removed or changes its meaning. New optional fields keep it. */
  readonly version: 1;
  readonly target: EventTarget | null;
  /** The readers besides the operator: the team of the event, its account, or nobody. */
  readonly audience: 'team' | 'account' | 'operator';
  /** Whether feeds and webhooks contain it. All others are in the audit log alone. */
  readonly isDelivered: boolean;
  /** What `data` shows. */
  readonly data: DataKind | null;
  /** The scope and the permission that REST asks for the same data. */
  readonly scope: Scope | null;
  readonly permission: Permission | null;
  /** What `details` can contain. */
  readonly details: readonly DetailName[];
};

type Details = readonly DetailName[];

const define = <const Definition extends Omit<EventDefinition, 'version'>>(definition: Definition) =>
  ({ version: 1, ...definition }) as const;

const ofTeam = (details: Details = []) =>
  define({
    target: 'team',
    audience: 'team',
    isDelivered: true,
    data: 'team',
    scope: 'teams:read',
    permission: null,
    details,
  });

const ofMember = (details: Details = []) =>
  define({
    target: 'membership',
    audience: 'team',
    isDelivered: true,
    data: 'member',
    scope: 'members:read',
    permission: 'access_dashboard',
    details,
  });

const ofRole = (details: Details = []) =>
  define({
    target: 'role',
    audience: 'team',
    isDelivered: true,
    data: 'role',
    scope: 'members:read',
    permission: 'access_dashboard',
    details,
  });

/** Invitations contain email addresses. */
const ofInvitation = (details: Details = []) =>
  define({
    target: 'invitation',
    audience: 'team',
    isDelivered: true,
    data: 'invitation',
    scope: 'members:read',
    permission: 'invite_members',
    details,
  });

const ofKey = (details: Details = []) =>
  define({
    target: 'api_key',
    audience: 'team',
    isDelivered: true,
    data: 'apiKey',
    scope: 'api-keys:read',
    permission: 'manage_api_keys',
    details,
  });

const ofGrant = (details: Details = []) =>
  define({
    target: 'oauth_grant',
    audience: 'team',
    isDelivered: true,
    data: 'oauthGrant',
    scope: 'api-keys:read',
    permission: 'manage_api_keys',
    details,
  });

const ofEndpoint = (details: Details = []) =>
  define({
    target: 'webhook_endpoint',
    audience: 'team',
    isDelivered: true,
    data: null,
    scope: 'teams:write',
    permission: 'edit_team_settings',
    details,
  });

/** Of an account, for itself and the operator. */
const ofAccount = (target: EventTarget, data: DataKind, details: Details = []) =>
  define({ target, audience: 'account', isDelivered: true, data, scope: 'profile:read', permission: null, details });

/** In the audit log alone. */
const audited = (target: EventTarget | null, audience: EventDefinition['audience'], details: Details = []) =>
  define({ target, audience, isDelivered: false, data: null, scope: null, permission: null, details });

const TERMS = ['roleId', 'isActive', 'expiresAt'] as const;

const DENIAL = ['reason', 'until'] as const;

/** Every event that is recorded. Names are public and stored in rows that never change: add names, never rename one. */
export const EVENTS = {
  'account.sign_up_attempted': audited('account', 'account'),
  'account.created': ofAccount('account', 'account'),
  'account.link_emailed': audited('account', 'account', ['reason']),
  'account.email_verified': ofAccount('account', 'account'),
  'account.profile_changed': ofAccount('account', 'account'),
  'account.password_changed': ofAccount('account', 'account'),
  'account.password_reset': ofAccount('account', 'account'),
  'account.email_change_requested': ofAccount('account', 'account'),
  'account.email_changed': ofAccount('account', 'account'),
  'account.reclaimed': ofAccount('account', 'account'),
  'account.deleted': ofAccount('account', 'account'),
  'account.email_failed': ofAccount('account', 'account', ['emailKind', 'reason']),
  'session.created': ofAccount('session', 'session', ['method']),
  'session.ended': ofAccount('session', 'session', ['reason', 'expiresAt']),
  'session.proven': ofAccount('session', 'session', ['method']),
  'passkey.added': ofAccount('passkey', 'passkey'),
  'passkey.renamed': ofAccount('passkey', 'passkey'),
  'passkey.removed': ofAccount('passkey', 'passkey', ['reason']),
  'team.created': ofTeam(),
  'team.renamed': ofTeam(),
  'team.updated': ofTeam(['changed']),
  'team.plan_set': { ...ofTeam(['planId']), scope: 'billing:read', permission: 'access_billing' },
  'team.deleted': ofTeam(['number', 'reason']),
  'ownership.offered': ofTeam(),
  'ownership.offer_withdrawn': ofTeam(),
  'ownership.declined': ofTeam(),
  'ownership.transferred': ofTeam(),
  'member.added': ofMember(TERMS),
  'member.role_changed': ofMember(TERMS),
  'member.activated': ofMember(TERMS),
  'member.deactivated': ofMember(TERMS),
  'member.expiry_changed': ofMember(TERMS),
  'member.updated': ofMember(TERMS),
  'member.left': ofMember(['reason']),
  'member.removed': ofMember(['reason']),
  'role.created': ofRole(['name', 'permissions']),
  'role.updated': ofRole(['name', 'permissions']),
  'role.deleted': ofRole(['name', 'replacementId']),
  'invitation.created': ofInvitation(),
  'invitation.renewed': ofInvitation(),
  'invitation.resent': ofInvitation(),
  'invitation.revoked': ofInvitation(['reason']),
  'invitation.declined': ofInvitation(),
  'invitation.accepted': ofInvitation(),
  'invitation.email_failed': ofInvitation(['reason']),
  'api_key.created': ofKey(['name', 'scopes']),
  'api_key.updated': ofKey(['name', 'scopes', 'reason']),
  'api_key.rotated': ofKey(['name', 'expiresAt']),
  'api_key.revoked': ofKey(['name', 'reason', 'makerId']),
  'oauth_client.created': ofAccount('oauth_client', 'oauthClient', ['reason']),
  'oauth_client.updated': ofAccount('oauth_client', 'oauthClient', ['reason']),
  'oauth_client.secret_rotated': ofAccount('oauth_client', 'oauthClient'),
  'oauth_client.deleted': ofAccount('oauth_client', 'oauthClient', ['reason']),
  'oauth_grant.approved': ofAccount('oauth_client', 'oauthClient', ['scopes']),
  'oauth_grant.created': ofGrant(['scopes']),
  'oauth_grant.denied': ofAccount('oauth_client', 'oauthClient'),
  'oauth_grant.reduced': ofGrant(['scopes']),
  'oauth_grant.renewed': ofGrant(['scopes']),
  'oauth_grant.revoked': ofGrant(['reason', 'expiresAt']),
  'oauth_token.issued': audited('oauth_grant', 'account', ['scopes', 'reason']),
  'oauth_token.repeated': audited('oauth_grant', 'account', ['reason']),
  'oauth_token.reused': ofAccount('oauth_grant', 'oauthGrant', ['reason']),
  'oauth_token.revoked': audited('oauth_grant', 'account', ['reason']),
  'webhook_endpoint.created': ofEndpoint(),
  'webhook_endpoint.updated': ofEndpoint(['changed']),
  'webhook_endpoint.paused': ofEndpoint(),
  'webhook_endpoint.resumed': ofEndpoint(),
  'webhook_endpoint.secret_rotated': ofEndpoint(),
  'webhook_endpoint.tested': ofEndpoint(),
  'webhook_endpoint.replayed': ofEndpoint(['number']),
  'webhook_endpoint.disabled': ofEndpoint(['reason']),
  'webhook_endpoint.deleted': ofEndpoint(),
  'operator.searched': audited(null, 'operator', ['found']),
  'operator.account_viewed': audited('account', 'operator'),
  'operator.team_viewed': audited('team', 'team'),
  'operator.account_disabled': audited('account', 'operator'),
  'operator.account_enabled': audited('account', 'operator'),
  'operator.emails_retried': audited(null, 'operator', ['number']),
  'operator.import_started': audited(null, 'operator', ['number']),
  'operator.secrets_resealed': audited(null, 'operator', ['number']),
  'operator_key.created': audited('operator_key', 'operator', ['operatorScopes', 'expiresAt']),
  'operator_key.rotated': audited('operator_key', 'operator', ['expiresAt']),
  'operator_key.revoked': audited('operator_key', 'operator', ['reason']),
  'access.denied': audited(null, 'team', DENIAL),
  'sign_in.denied': audited('account', 'operator', DENIAL),
  'attempts.throttled': audited(null, 'operator', DENIAL),
  'oauth_request.denied': audited('oauth_client', 'operator', DENIAL),
  'denials.omitted': audited(null, 'operator'),
  'audit_log.key_changed': audited('audit_log', 'operator'),
  'audit_log.pruned': audited('audit_log', 'operator', ['number']),
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
