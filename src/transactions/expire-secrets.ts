import { command } from '../db/query.ts';
import { HOUR_MS } from '../time.ts';
import type { Change } from './steps.ts';

/**
 * Declares what a rotation does with the secrets of a locked credential: the newest one is valid during the overlap, and
 * the others are deleted.
 * @returns a function that does so, and returns the end of the overlap
 */
export function secretsOf(table: 'api_key_secret' | 'oauth_client_secret' | 'operator_key_secret', owner: string) {
  const remove = command<never>(
    `${table}_delete_former`,
    `delete from ${table} where ${owner} = $1 and ($2::int = 0 or expires_at is not null)`,
  );
  const expire = command<never>(`${table}_update_expiry`, `update ${table} set expires_at = $2 where ${owner} = $1`);
  return (tx: Change, id: string, overlapHours: number): Date => {
    const expiresAt = new Date(Date.now() + overlapHours * HOUR_MS);
    tx.later([remove, [id, overlapHours]]);
    tx.later([expire, [id, expiresAt.toISOString()]]);
    return expiresAt;
  };
}
