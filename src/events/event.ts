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
  /** The names of the changed fields. */
  readonly changed?: readonly string[];
  /** The ids of the accounts and teams that an operator's search returned. */
  readonly found?: readonly string[];
  /** The list that an operator exported, and by what it was searched or filtered. */
  readonly list?: string;
  readonly filter?: readonly string[];
  /** The role that replaces a deleted one. */
  readonly replacementId?: string;
  readonly planId?: string;
  readonly isActive?: boolean;
  readonly expiresAt?: string | null;
  /** The sign-in method. */
  readonly method?: string;
  /** The number of affected resources. */
  readonly number?: number;
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
