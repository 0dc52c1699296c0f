import {
  audited,
  ofAccount,
  ofEndpoint,
  ofGrant,
  ofInstallation,
  ofInvitation,
  ofKey,
  ofMember,
  ofRole,
  ofSubscription,
  ofTeam,
  type EventDefinition,
} from './definition.ts';

const TERMS = ['roleId', 'isActive', 'expiresAt'] as const;

const DENIAL = ['reason', 'until'] as const;

/** Of reads of an operator key, which are counted. */
const PERIOD = ['since', 'until'] as const;

/** Every event that is recorded. Names are public and stored in rows that never change: add names, never rename one. */
export const EVENTS = {
  'account.sign_up_attempted': ofAccount('account', 'account'),
  'account.created': ofAccount('account', 'account'),
  'account.link_emailed': ofAccount('account', 'account', ['reason']),
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
  'team.plan_set': ofSubscription(['planId']),
  'team.deleted': ofTeam(['number', 'reason']),
  'ownership.offered': ofTeam(),
  'ownership.offer_withdrawn': ofTeam(),
  'ownership.declined': ofTeam(),
  'ownership.transferred': ofTeam(),
  'member.added': ofMember(TERMS),
  'member.role_changed': ofMember([...TERMS, 'name']),
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
  'oauth_grant.approved': ofAccount('oauth_client', 'client', ['scopes']),
  'oauth_grant.created': ofGrant(['scopes']),
  'oauth_grant.denied': ofAccount('oauth_client', 'client'),
  'oauth_grant.reduced': ofGrant(['scopes']),
  'oauth_grant.renewed': ofGrant(['scopes']),
  'oauth_grant.revoked': ofGrant(['reason', 'expiresAt']),
  'oauth_token.issued': audited('oauth_grant', 'account', ['scopes', 'reason']),
  'oauth_token.repeated': audited('oauth_grant', 'account', ['reason']),
  'oauth_token.reused': ofAccount('oauth_grant', 'oauthGrant', ['reason']),
  'oauth_token.revoked': ofAccount('oauth_grant', 'oauthGrant', ['reason']),
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
  'operator.list_exported': audited(null, 'operator', ['list', 'filter']),
  'operator.account_viewed': audited('account', 'operator', PERIOD),
  'operator.team_viewed': audited('team', 'team', PERIOD),
  'operator.account_disabled': ofAccount('account', 'account'),
  'operator.account_enabled': ofAccount('account', 'account'),
  'operator.audit_log_viewed': audited('account', 'operator'),
  'operator.emails_retried': ofInstallation(null, null, ['number']),
  'operator.jobs_retried': ofInstallation(null, null, ['number']),
  'operator.import_started': ofInstallation('import', null, ['number']),
  'operator.import_canceled': ofInstallation('import'),
  'operator.secrets_resealed': ofInstallation(null, null, ['number']),
  'operator_key.created': ofInstallation('operator_key', 'operatorKey', ['operatorScopes', 'expiresAt']),
  'operator_key.rotated': ofInstallation('operator_key', 'operatorKey', ['expiresAt']),
  'operator_key.revoked': ofInstallation('operator_key', 'operatorKey', ['reason']),
  'operator_key.used': audited(null, 'operator', ['operation', ...PERIOD]),
  'access.denied': audited(null, 'team', DENIAL),
  'sign_in.denied': audited('account', 'operator', DENIAL),
  'attempts.throttled': audited(null, 'operator', DENIAL),
  'oauth_request.denied': audited('oauth_client', 'operator', DENIAL),
  'denials.omitted': audited(null, 'operator'),
  'audit_log.key_changed': ofInstallation('audit_log'),
  'audit_log.pruned': ofInstallation('audit_log', null, ['number']),
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

/** Returns every name under which this version knows stored events. */
export const knownNames = (): readonly string[] => [...Object.keys(EVENTS), ...Object.keys(LEGACY_NAMES)];

/** Returns whether this version knows a stored event. During a rolling upgrade, newer replicas record others. */
export const isKnown = (stored: string): boolean => isEventName(stored) || Object.hasOwn(LEGACY_NAMES, stored);

/** Returns the present name of a stored event, or the stored one if a newer version of the service wrote it. */
export const toEventName = (stored: string): EventName =>
  isEventName(stored) ? stored : (LEGACY_NAMES[stored] ?? (stored as EventName));

/** Returns the names under which an event is stored: its present one and earlier ones. */
export const storedNames = (name: EventName): readonly string[] => [
  name,
  ...Object.keys(LEGACY_NAMES).filter((legacy) => LEGACY_NAMES[legacy] === name),
];
