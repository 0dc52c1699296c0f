import type { EventName } from './catalogue.ts';

/**
 * What an operator or an auditor asks about later: who allowed what to whom, and what was refused.
 * Ids only: nothing secret and no address of a mailbox, so that a row may outlive what it tells of.
 */
export type EventFields = {
  /** Whose account it is about; the actor's, where it is left out. */
  readonly accountId?: string | null;
  readonly clientId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly keyId?: string;
  readonly roleId?: string;
  readonly invitationId?: string;
  readonly sessionId?: string;
  readonly passkeyId?: string;
  readonly teamId?: string | null;
  /** Whose account an operator, who is `accountId`, looked at or changed. */
  readonly subjectId?: string;
  /** Who made the key. */
  readonly makerId?: string;
  readonly scopes?: readonly string[];
  readonly permissions?: readonly string[];
  /** Which members of a thing were changed. */
  readonly changed?: readonly string[];
  /** The accounts and teams that a search of an operator showed. */
  readonly found?: readonly string[];
  /** The role that members get instead of one that is deleted. */
  readonly replacementId?: string;
  readonly planId?: string;
  readonly isActive?: boolean;
  readonly expiresAt?: string | null;
  /** How somebody signed in. */
  readonly method?: string;
  /** How many things of a kind there were. */
  readonly number?: number;
  /** Which email to an account was not sent. */
  readonly emailKind?: string;
  /** Why something was refused or ended. */
  readonly reason?: string;
};

/** Tells of an event, once what it tells of has been committed. */
export type Audit = (event: EventName, fields: EventFields) => void;

type Log = { info(fields: object, message: string): void };

/** Events as lines of the log: `audit` names the event. */
export const auditLog =
  (log: Log): Audit =>
  (event, fields) =>
    log.info({ audit: event, ...fields }, 'audit');
