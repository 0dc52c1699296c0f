export { Account, ACCOUNT_ROLES } from './account.ts';
export { AccountToken, TOKEN_PURPOSES, type TokenPurpose } from './account-token.ts';
export { ApiKey, ApiKeySecret, ApiKeyUse } from './api-key.ts';
export { EventPayload } from './event-payload.ts';
export {
  ACTOR_KINDS,
  AuditCheckpoint,
  AuditEvent,
  AuditHead,
  AuditLink,
  AuditPending,
  type ActorKind,
} from './audit-event.ts';
export { EXTERNAL_ID_PREFIX, firstIdAt, newId } from './base.ts';
export { IdempotencyKey } from './idempotency-key.ts';
export { ImportContent, ImportRefusal, ImportRun } from './import-run.ts';
export { EMAIL_FAILURES, Invitation, InvitationLink, type EmailFailure } from './invitation.ts';
export { KnownDevice } from './known-device.ts';
export { Membership } from './membership.ts';
export { METADATA_BYTES_MAX, METADATA_PARTS, type JsonObject, type MetadataPart } from './metadata.ts';
export { CLIENT_SOURCES, OAuthClient, OAuthClientSecret, type ClientSource } from './oauth-client.ts';
export { GRANT_DAYS, OAuthGrant, RESOURCES, type Resource } from './oauth-grant.ts';
export { AuthorizationRequest, OAuthArtifact } from './oauth-request.ts';
export { OAuthRefreshAnswer, OAuthToken, TOKEN_KINDS } from './oauth-token.ts';
export { OAuthTokenFamily } from './oauth-token-family.ts';
export { OPERATOR_SCOPES, OperatorKey, OperatorKeySecret, type OperatorScope } from './operator-key.ts';
export { OwnershipTransfer } from './ownership-transfer.ts';
export {
  DeclaredPermission,
  PermissionCatalogue,
  type LocalizedText,
  type ProductPermission,
} from './permission-catalogue.ts';
export { Passkey, PasskeyChallenge } from './passkey.ts';
export { PasswordScheme } from './password-scheme.ts';
export { Picture } from './picture.ts';
export { PERMISSIONS, PRIVILEGED_PERMISSIONS, Role, SYSTEM_ROLES, type Permission } from './role.ts';
export { RoleTemplate } from './role-template.ts';
export { ACCOUNT_ONLY_SCOPES, OPENID_SCOPES, SCOPES, type Scope } from './scope.ts';
export { SentMail } from './sent-mail.ts';
export { looksLike, roleNameSkeleton } from './role-name.ts';
export { Session, type ProofMethod, type Proofs } from './session.ts';
export { SigningKey } from './signing-key.ts';
export { SignUpAttempt } from './sign-up-attempt.ts';
export { Subscription, SUBSCRIPTION_INTERVALS, SUBSCRIPTION_STATUSES } from './subscription.ts';
export { Team } from './team.ts';
export {
  DELIVERY_STATES,
  WebhookAttempt,
  WebhookCursor,
  WebhookQueue,
  WebhookDelivery,
  WebhookEndpoint,
  type DeliveryState,
} from './webhook.ts';
