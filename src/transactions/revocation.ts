import { command } from '../db/query.ts';
import { lockRows } from './lock-order.ts';
import type { Change } from './steps.ts';

type Ids = string | readonly string[];

/** What a row has to match. Members are in this order. */
type GrantFilter =
  | { readonly id: Ids }
  | { readonly account: string }
  | { readonly team: string }
  | { readonly account: string; readonly team: string };
type KeyFilter = GrantFilter | { readonly grant: Ids } | { readonly family: string };

const COLUMNS = {
  id: 'id',
  account: 'account_id',
  team: 'team_id',
  grant: 'oauth_grant_id',
  family: 'oauth_family_id',
};

type Revoked = { readonly id: string; readonly account_id: string; readonly team_id: string | null };
export type RevokedKey = Revoked & { readonly name: string };
export type RevokedGrant = Revoked & { readonly client_id: string };

/** What events say about a grant that ends. */
export const grantFields = (grant: RevokedGrant, reason: string) => ({
  accountId: grant.account_id,
  clientId: grant.client_id,
  grantId: grant.id,
  teamId: grant.team_id,
  reason,
});

/** What events say about a key that ends. */
export const keyFields = (
  { id: keyId, account_id: accountId, team_id: teamId, name }: RevokedKey,
  reason?: string,
) => ({
  accountId,
  keyId,
  teamId,
  ...(teamId !== null && { name }),
  ...(reason === undefined ? {} : { reason }),
});

type Name = keyof typeof COLUMNS;

/** Declares a lock of what is not revoked for each combination of members of a filter. */
const liveLocks = <Row extends Revoked>(
  table: 'oauth_grant' | 'api_key',
  columns: string,
  filters: readonly (readonly Name[])[],
) => {
  const declared = filters.map((names) => {
    const conditions = names.map((name, i) => `${COLUMNS[name]} = any(string_to_array($${i + 1}, ' '))`);
    const text = `select ${columns} from ${table} where ${conditions.join(' and ')} and revoked_at is null`;
    return [names.join(), lockRows<Row>(table, `${table}_lock_live_by_${names.join('_and_')}`, text)] as const;
  });
  const statements = new Map(declared);
  return async (tx: Change, filter: KeyFilter): Promise<Row[]> => {
    const statement = statements.get(Object.keys(filter).join());
    if (statement === undefined) throw new Error(`There is no lock of ${table} by ${Object.keys(filter).join()}.`);
    return (await tx.run([[statement, Object.values(filter).map((ids: Ids) => [ids].flat().join(' '))]]))[0];
  };
};

const OF_BOTH: readonly (readonly Name[])[] = [['id'], ['account'], ['team'], ['account', 'team']];
const lockLiveGrants = liveLocks<RevokedGrant>('oauth_grant', 'id, account_id, client_id, team_id', OF_BOTH);
const lockLiveKeys = liveLocks<RevokedKey>('api_key', 'id, account_id, team_id, name', [
  ...OF_BOTH,
  ['grant'],
  ['family'],
]);

const idsOf = (rows: readonly Revoked[]): string => rows.map(({ id }) => id).join(' ');

const revokeRows = (table: 'oauth_grant' | 'api_key') =>
  command<never>(`${table}_revoke`, `update ${table} set revoked_at = now() where id = any(string_to_array($1, ' '))`);

const [revokeGrantRows, revokeKeyRows] = [revokeRows('oauth_grant'), revokeRows('api_key')];

/** Revokes locked grants. */
export const revokeGrantsStep = (grants: readonly Revoked[]) => [revokeGrantRows, [idsOf(grants)]] as const;

/** Revokes locked API keys. */
export const revokeKeysStep = (keys: readonly Revoked[]) => [revokeKeyRows, [idsOf(keys)]] as const;

/**
 * Revokes the grants that match and the API keys that were created through them. Records each.
 * @returns the number of revoked grants
 */
export async function revokeGrants(tx: Change, filter: GrantFilter, reason: string): Promise<number> {
  const grants = await recordGrantEnds(tx, filter, reason, (ids) =>
    revokeApiKeys(tx, { grant: ids }, 'its grant ended'),
  );
  if (grants.length > 0) tx.later(revokeGrantsStep(grants));
  return grants.length;
}

/** Revokes the API keys that match. Records each. @returns the number of revoked keys */
export async function revokeApiKeys(tx: Change, filter: KeyFilter, reason?: string): Promise<number> {
  const keys = await recordKeyEnds(tx, filter, reason);
  if (keys.length > 0) tx.later(revokeKeysStep(keys));
  return keys.length;
}

/** Locks the grants that match and their API keys, and records their end. The caller deletes the rows. */
export const recordDeletedGrants = (tx: Change, filter: GrantFilter, reason: string): Promise<RevokedGrant[]> =>
  recordGrantEnds(tx, filter, reason, (ids) => recordKeyEnds(tx, { grant: ids }, 'its grant ended'));

async function recordGrantEnds(
  tx: Change,
  filter: GrantFilter,
  reason: string,
  // Reads the keys after locking the grants, so that no key is created through a grant while it is revoked.
  endKeys: (grantIds: readonly string[]) => Promise<unknown>,
): Promise<RevokedGrant[]> {
  const grants = await lockLiveGrants(tx, filter);
  if (grants.length === 0) return grants;
  await endKeys(grants.map(({ id }) => id));
  await tx.record(
    'oauth_grant.revoked',
    grants.map((grant) => grantFields(grant, reason)),
  );
  return grants;
}

async function recordKeyEnds(tx: Change, filter: KeyFilter, reason: string | undefined): Promise<Revoked[]> {
  const keys = await lockLiveKeys(tx, filter);
  await tx.record(
    'api_key.revoked',
    keys.map((key) => keyFields(key, reason)),
  );
  return keys;
}

const deletePending = (name: string, which = '') =>
  command<never>(
    `oauth_token_family_delete_pending_${name}`,
    `delete from oauth_token_family where account_id = $1 and grant_id is null ${which}`,
  );
const deletePendingOfAccount = deletePending('of_account');
const deletePendingOfClient = deletePending('of_client', 'and client_id = $2');
const deletePendingOfMember = deletePending('of_member', 'and team_id = $2');

type Consents = { readonly account: string; readonly client?: string; readonly team?: string };

/** Deletes consents whose codes were not exchanged yet, so that an exchange does not restore access. */
export function deletePendingConsents(tx: Change, { account, client, team }: Consents): void {
  if (client !== undefined) tx.later([deletePendingOfClient, [account, client]]);
  else if (team !== undefined) tx.later([deletePendingOfMember, [account, team]]);
  else tx.later([deletePendingOfAccount, [account]]);
}
