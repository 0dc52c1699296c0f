/** So that a sweep stays within the bound of a statement; what is left comes with the next one. */
const ROWS_MAX = 5000;

const drop = (table: string, key: string, isOver: string): string =>
  `delete from ${table} where ${key} in (select ${key} from ${table} where ${isOver} order by ${key} limit ${ROWS_MAX} for update skip locked)`;

/** What goes because nobody can use it any more. What people may still ask about stays for a while. */
export const HOUSEKEEPING: readonly string[] = [
  drop('sent_mail', 'id', `created_at < now() - interval '25 hours'`),
  drop('account_token', 'token_hash', 'expires_at < now()'),
  drop('passkey_challenge', 'id', 'expires_at < now()'),
  drop('session', 'id', `least(expires_at, idle_expires_at, revoked_at) < now() - interval '7 days'`),
  drop('invitation', 'id', `accepted_at is null and expires_at < now() - interval '30 days'`),
  drop('oauth_refresh_answer', 'token_hash', `created_at < now() - interval '30 seconds'`),
  drop('oauth_token', 'token_hash', `expires_at < now() - interval '1 hour'`),
  drop('authorization_request', 'id_hash', 'expires_at < now()'),
  drop('oauth_artifact', 'key_hash', 'expires_at < now()'),
  drop('api_key_secret', 'secret_hash', 'expires_at < now()'),
  drop('oauth_client_secret', 'secret_hash', 'expires_at < now()'),
  // A grant ends with its term too, and with it the keys that were made through it.
  `update api_key set revoked_at = now() where id in (
     select k.id from api_key k
     join oauth_grant g on g.id = k.oauth_grant_id
     where g.expires_at < now() and k.revoked_at is null
     order by k.id limit ${ROWS_MAX} for update of k skip locked)`,
  drop('oauth_grant', 'id', `least(expires_at, revoked_at) < now() - interval '30 days'`),
  // Clients that came by themselves, once nobody has used them for a month.
  drop(
    'oauth_client',
    'id',
    `source in ('registration', 'document') and created_at < now() - interval '30 days'
       and not exists (select from oauth_grant g where g.client_id = oauth_client.id)`,
  ),
  drop('known_device', 'id', `last_seen_at < now() - interval '365 days'`),
];
