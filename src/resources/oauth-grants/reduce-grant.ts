import { command } from '../../db/query.ts';
import type { Scope } from '../../entities/index.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import { keyFields, revokeKeysStep } from '../../transactions/revocation.ts';
import type { Change } from '../../transactions/steps.ts';

// Uses the clock of the database, because refresh tokens record their consumption by it.
const reduceGrantRow = command<never>(
  'oauth_grant_update_reduced',
  `update oauth_grant set scopes = string_to_array($2, ' '), narrowed_at = clock_timestamp() where id = $1`,
);

const reduceTokens = command<never>(
  'oauth_token_update_reduced',
  `update oauth_token set scopes = array(
     select s from unnest(scopes) with ordinality u(s, i) where s = any(string_to_array($2, ' ')) order by i)
   where grant_id = $1 and not scopes <@ string_to_array($2, ' ')`,
);

const lockKeysOfGrant = lockRows<{
  id: string;
  account_id: string;
  team_id: string | null;
  name: string;
  scopes: Scope[];
}>(
  'api_key',
  'api_key_lock_of_grant',
  'select id, account_id, team_id, name, scopes from api_key where oauth_grant_id = $1 and revoked_at is null',
);

const reduceKey = command<never>(
  'api_key_update_reduced',
  `update api_key set scopes = string_to_array($2, ' ') where id = $1`,
);

/**
 * Removes all but the given scopes from a locked grant, its tokens and its API keys. The rows lose the scopes, so that
 * a later consent to more scopes does not restore them. Keys without remaining scopes are revoked.
 */
export async function reduceGrant(tx: Change, grantId: string, kept: readonly Scope[]): Promise<void> {
  const values = [grantId, kept.join(' ')];
  tx.later([reduceGrantRow, values]);
  tx.later([reduceTokens, values]);
  for (const key of (await tx.run([[lockKeysOfGrant, [grantId]]]))[0]) {
    const left = key.scopes.filter((scope) => kept.includes(scope));
    if (left.length === key.scopes.length) continue;
    if (left.length === 0) {
      tx.later(revokeKeysStep([key]));
      tx.record('api_key.revoked', keyFields(key, 'its grant has none of its scopes'));
    } else {
      tx.later([reduceKey, [key.id, left.join(' ')]]);
      tx.record('api_key.updated', { ...keyFields(key, 'its grant was reduced'), scopes: left });
    }
  }
}

const lockWideKeys = lockRows(
  'api_key',
  'api_key_lock_wider_than_grant',
  `select k.id from api_key k where k.revoked_at is null and k.id in (
     select wide.id from api_key wide join oauth_grant g on g.id = wide.oauth_grant_id
     where g.id = any(string_to_array($1, ' ')) and not wide.product_permissions <@ g.product_permissions)`,
);

const limitKeys = command<never>(
  'api_key_update_permissions_of_grant',
  `update api_key k set product_permissions = array(
     select held.name from unnest(k.product_permissions) held(name)
     where held.name = any(g.product_permissions) order by held.name)
   from oauth_grant g where g.id = k.oauth_grant_id and k.id = any(string_to_array($1, ' '))`,
);

/** Takes from the API keys of locked grants what the grants no longer have of the product. */
export async function limitKeysOfGrants(tx: Change, grantIds: readonly string[]): Promise<void> {
  const [keys] = await tx.run([[lockWideKeys, [grantIds.join(' ')]]]);
  if (keys.length > 0) tx.later([limitKeys, [keys.map(({ id }) => id).join(' ')]]);
}
