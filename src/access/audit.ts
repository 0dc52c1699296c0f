/**
 * What an operator or an auditor asks about later: who allowed what to whom, and what was refused.
 * Ids only: nothing secret and no address.
 */
type AuditFields = {
  readonly accountId?: string | null;
  readonly clientId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly keyId?: string;
  /** Who made the key. */
  readonly makerId?: string;
  readonly teamId?: string | null;
  readonly scopes?: readonly string[];
  /** Whose account an operator, who is `accountId`, looked at or changed. */
  readonly subjectId?: string;
  /** The accounts and teams that a search of an operator showed. */
  readonly found?: readonly string[];
  /** Why something was refused or ended. */
  readonly reason?: string;
};

export type AuditEvent =
  | 'api_key.rotated'
  | 'api_key.revoked'
  | 'oauth_client.created'
  | 'oauth_client.changed'
  | 'oauth_client.secret_rotated'
  | 'oauth_client.deleted'
  | 'oauth_grant.created'
  | 'oauth_grant.denied'
  | 'oauth_grant.narrowed'
  | 'oauth_grant.revoked'
  | 'oauth_token.issued'
  | 'oauth_token.repeated'
  | 'oauth_token.reused'
  | 'oauth_token.revoked'
  | 'oauth_request.refused'
  | 'operator.searched'
  | 'operator.account_viewed'
  | 'operator.team_viewed'
  | 'operator.account_disabled'
  | 'operator.account_enabled';

/** Writes an event, once what it tells of has been committed. */
export type Audit = (event: AuditEvent, fields: AuditFields) => void;

type Log = { info(fields: object, message: string): void };

/** Events as lines of the log: `audit` names the event. */
export const auditLog =
  (log: Log): Audit =>
  (event, fields) =>
    log.info({ audit: event, ...fields }, 'audit');
