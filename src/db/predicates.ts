/**
 * Conditions that several queries share, each for a table alias. They compare with the clock of the database,
 * so that all replicas agree on what has expired.
 */

const isCurrent = (alias: string) => `(${alias}.expires_at is null or ${alias}.expires_at > now())`;

/** An active membership: neither deactivated nor expired. */
export const activeMembership = (alias: string) => `${alias}.is_active and ${isCurrent(alias)}`;

/** An API key that is neither revoked nor expired. Ignores the state of its account and grant. */
export const liveApiKey = (alias: string) => `${alias}.revoked_at is null and ${isCurrent(alias)}`;

/** An OAuth grant that is neither revoked nor expired, of a client that is not deleted. */
export const liveGrant = (alias: string) => `${alias}.revoked_at is null and ${alias}.expires_at > now()
  and not exists (select from oauth_client gone where gone.id = ${alias}.client_id and gone.deleted_at is not null)`;

/** An invitation that can still be accepted and uses a seat. */
export const pendingInvitation = (alias: string) => `${alias}.accepted_at is null and ${alias}.expires_at > now()`;

/** A session that is neither revoked, expired nor idle for too long. */
export const openSession = (alias: string) =>
  `${alias}.revoked_at is null and ${alias}.expires_at > now() and ${alias}.idle_expires_at > now()`;
