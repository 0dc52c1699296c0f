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
  drop('known_device', 'id', `last_seen_at < now() - interval '365 days'`),
];
