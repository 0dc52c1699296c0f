import { EXTERNAL_ID_PREFIX, PRIVILEGED_PERMISSIONS } from '../entities/index.ts';

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

/** A role that holds a privileged permission, or a sensitive one of the product. */
export const privilegedRole = (alias: string) =>
  `(${alias}.is_sensitive or ${alias}.permissions && array[${PRIVILEGED_PERMISSIONS.map((permission) => `'${permission}'`).join(', ')}])`;

/** An invitation that was neither accepted nor has expired, whoever sent it. */
export const openInvitation = (alias: string) => `${alias}.accepted_at is null and ${alias}.expires_at > now()`;

/**
 * Whether the role of an invitation is privileged, and the member who sent or last renewed it could not send it now. Those
 * of the operator have no sender; those of deleted accounts had one.
 */
const hasLostSender = (alias: string) => `exists (
  select from role granted where granted.id = ${alias}.role_id and ${privilegedRole('granted')}
    and (${alias}.invited_by_id is not null or ${alias}.is_sender_deleted) and not exists (
      select from membership sender
      join role own on own.id = sender.role_id
      join account a on a.id = sender.account_id
      where sender.account_id = ${alias}.invited_by_id and sender.team_id = ${alias}.team_id
        and ${activeMembership('sender')} and a.disabled_at is null
        and 'invite_members' = any(own.permissions) and granted.permissions <@ own.permissions
        and granted.product_permissions <@ own.product_permissions))`;

/** An invitation that can still be accepted and uses a seat. */
export const pendingInvitation = (alias: string) => `${openInvitation(alias)} and not ${hasLostSender(alias)}`;

/** An invitation that cannot be accepted any more, only because of its sender. */
export const abandonedInvitation = (alias: string) => `${openInvitation(alias)} and ${hasLostSender(alias)}`;

/** A session that is neither revoked, expired nor idle for too long. */
export const openSession = (alias: string) =>
  `${alias}.revoked_at is null and ${alias}.expires_at > now() and ${alias}.idle_expires_at > now()`;

/**
 * The tokens of a family that belong to a session are valid while it is open and their client is first-party. `grant` is the
 * grant of the family, whose account has to be that of the session.
 */
export const liveFamily = (alias: string, grant: string) => `(${alias}.session_id is null or exists (
  select from session own join oauth_client first on first.id = ${grant}.client_id and first.is_first_party
  where own.id = ${alias}.session_id and own.account_id = ${grant}.account_id and ${openSession('own')}))`;

/**
 * The scopes of a grant that tokens of a family can use: of a first-party client those that the operator gives it now, so
 * that taking one away holds for the next request.
 */
export const enforceableScopes = (
  family: string,
  grant: string,
) => `case when ${family}.session_id is null then ${grant}.scopes
  else array(select held.scope from unnest(${grant}.scopes) with ordinality held(scope, place)
    join oauth_client own on own.id = ${grant}.client_id and held.scope = any(own.scopes) order by held.place) end`;

/** The id of a team that a text names: an id, a slug, or `ext:` and an external id. Ids contain `_`, which slugs do not. */
export const namedTeam = (text: string) => `case when starts_with(${text}, '${EXTERNAL_ID_PREFIX}')
  then (select named.id from team named where named.external_id = substr(${text}, ${EXTERNAL_ID_PREFIX.length + 1}))
  else coalesce((select named.id from team named where named.slug = ${text}), ${text}) end`;
