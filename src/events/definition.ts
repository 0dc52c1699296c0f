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
  | 'role_template'
  | 'invitation'
  | 'api_key'
  | 'oauth_client'
  | 'oauth_grant'
  | 'webhook_endpoint'
  | 'operator_key'
  | 'import'
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

/** Of a team's resource: `data` shows it to members with the scope and the permission that REST asks for it. */
const ofTeamResource =
  (target: EventTarget, data: DataKind | null, scope: Scope, permission: Permission | null) =>
  (details: Details = []) =>
    define({ target, audience: 'team', isDelivered: true, data, scope, permission, details });

export const ofTeam = ofTeamResource('team', 'team', 'teams:read', null);
export const ofTeamMetadata = ofTeamResource('team', 'teamMetadata', 'teams:read', null);
export const ofMemberMetadata = ofTeamResource('membership', 'memberMetadata', 'members:read', 'access_dashboard');
export const ofSubscription = ofTeamResource('team', 'subscription', 'billing:read', 'access_billing');
export const ofMember = ofTeamResource('membership', 'member', 'members:read', 'access_dashboard');
export const ofRole = ofTeamResource('role', 'role', 'members:read', 'access_dashboard');
/** Invitations contain email addresses. */
export const ofInvitation = ofTeamResource('invitation', 'invitation', 'members:read', 'invite_members');
export const ofKey = ofTeamResource('api_key', 'apiKey', 'api-keys:read', 'manage_api_keys');
export const ofGrant = ofTeamResource('oauth_grant', 'oauthGrant', 'api-keys:read', 'manage_api_keys');
const ofNamedEndpoint = ofTeamResource('webhook_endpoint', 'webhookEndpoint', 'teams:write', 'edit_team_settings');
export const ofEndpoint = (details: Details = []) => ofNamedEndpoint(['name', ...details]);

/** Of an account, for itself and the operator. */
export const ofAccount = (target: EventTarget, data: DataKind, details: Details = []) =>
  define({ target, audience: 'account', isDelivered: true, data, scope: 'profile:read', permission: null, details });

/** Of the installation, for the operator alone. */
export const ofInstallation = (target: EventTarget | null, data: DataKind | null = null, details: Details = []) =>
  define({ target, audience: 'operator', isDelivered: true, data, scope: null, permission: null, details });

/** In the audit log alone: what changes nothing, and what happens once per request. */
export const audited = (target: EventTarget | null, audience: EventDefinition['audience'], details: Details = []) =>
  define({ target, audience, isDelivered: false, data: null, scope: null, permission: null, details });
