import type { EventName } from './catalogue.ts';

/**
 * The details of an audit event. They contain ids but no secrets and no email addresses, so that events can be kept
 * after their resources were deleted.
 */
export type EventFields = {
  /** The account that the event is about. Defaults to the actor's. */
  readonly accountId?: string | null;
  readonly clientId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly keyId?: string;
  readonly roleId?: string;
  readonly invitationId?: string;
  readonly sessionId?: string;
  readonly passkeyId?: string;
  readonly endpointId?: string;
  readonly importId?: string;
  readonly templateId?: string;
  /** The account, team or membership whose private metadata changed. */
  readonly metadataOf?: string;
  /** Of which membership it is: operations name its team and account. Neither is told. */
  readonly memberTeamId?: string;
  readonly memberAccountId?: string;
  readonly teamId?: string | null;
  /** The account that an operator (`accountId`) viewed or changed. */
  readonly subjectId?: string;
  /** The name of a role or a team’s API key then, or the host of an endpoint. Never of a person or a personal key. */
  readonly name?: string | undefined;
  /** The account that created the key. */
  readonly makerId?: string;
  readonly scopes?: readonly string[];
  readonly operatorScopes?: readonly string[];
  readonly permissions?: readonly string[];
  readonly productPermissions?: readonly string[];
  readonly productPermissionsBefore?: readonly string[];
  /** The version of the catalogue of permissions, and the names that it has, no longer has and declares differently. */
  readonly catalogueVersion?: number;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly redeclared?: readonly string[];
  /** The names of the changed fields. */
  readonly changed?: readonly string[];
  /** The redirect URIs of an OAuth client, before a change and from then on. */
  readonly redirectUrisBefore?: readonly string[];
  readonly redirectUris?: readonly string[];
  /** The ids of the accounts and teams that an operator's search returned. */
  readonly found?: readonly string[];
  /** The list that an operator exported, and by what it was searched or filtered. */
  readonly list?: string;
  readonly filter?: readonly string[];
  /** The role that replaces a deleted one. */
  readonly replacementId?: string;
  /** The account that owned a team before, and the role that it has from then on. */
  readonly formerOwnerId?: string;
  readonly formerOwnerRoleId?: string;
  readonly planId?: string;
  readonly isActive?: boolean;
  readonly expiresAt?: string | null;
  /** The sign-in method. */
  readonly method?: string;
  /** All methods that a session knows. */
  readonly methods?: readonly string[];
  /** The number of affected resources. */
  readonly number?: number;
  /** Whether the accounts and teams that an import created have no events. */
  readonly isSilent?: boolean;
  /** The kind of the account email that was not sent. */
  readonly emailKind?: string;
  /** The reason for a denial or a revocation. */
  readonly reason?: string;
};

/** Logs an event after its transaction has committed. */
export type Audit = (event: EventName, fields: EventFields) => void;

type Log = { info(fields: object, message: string): void };

/** Creates the function that logs events. The field `audit` contains the event name. */
export const auditLog =
  (log: Log): Audit =>
  (event, fields) =>
    log.info({ audit: event, ...fields }, 'audit');
