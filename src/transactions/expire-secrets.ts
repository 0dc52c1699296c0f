import { command } from '../db/query.ts';
import type { Change } from './steps.ts';

/**
 * Declares what a rotation does with the secrets of a locked credential: the newest one is valid during the overlap, and
 * the others are deleted.
 */
export function secretsOf(table: 'api_key_secret' | 'oauth_client_secret' | 'operator_key_secret', owner: string) {
  const remove = command<never>(
    `${table}_delete_former`,
    `delete from ${table} where ${owner} = $1 and ($2::int = 0 or expires_at is not null)`,
  );
  const expire = command<never>(
    `${table}_update_expiry`,
    `update ${table} set expires_at = now() + make_interval(hours => $2::int) where ${owner} = $1`,
  );
  return (tx: Change, id: string, overlapHours: number): void => {
    tx.later([remove, [id, overlapHours]]);
    tx.later([expire, [id, overlapHours]]);
  };
}
