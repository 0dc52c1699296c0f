import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { command } from '../db/query.ts';
import { OAuthTokenFamily } from '../entities/index.ts';
import { recordMany } from '../events/record.ts';
import { lockRows } from './locks.ts';
import { runStep } from './steps.ts';

type Ids = string | readonly string[];

/** All given columns have to match. */
type GrantFilter = { readonly id?: Ids; readonly account?: Ids; readonly team?: Ids };
type KeyFilter = GrantFilter & { readonly grant?: Ids; readonly family?: Ids };

const COLUMNS = {
  id: 'id',
  account: 'account_id',
  team: 'team_id',
  grant: 'oauth_grant_id',
  family: 'oauth_family_id',
};

type Revoked = { readonly id: string; readonly account_id: string; readonly team_id: string | null };
type RevokedKey = Revoked & { readonly name: string };
type RevokedGrant = Revoked & { readonly client_id: string };

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

/** Locks what matches and is not revoked, in a statement that can find thousands. */
const lockLive = <Row extends Revoked>(
  tx: EntityManager,
  table: 'oauth_grant' | 'api_key',
  columns: string,
  filter: KeyFilter,
): Promise<Row[]> => {
  const given = Object.entries(filter) as [keyof typeof COLUMNS, Ids][]; // the keys of KeyFilter
  const conditions = given.map(([name]) => `${COLUMNS[name]} = any(string_to_array(?, ' '))`);
  return lockRows<Row>(
    tx,
    table,
    `select ${columns} from ${table} where ${conditions.join(' and ')} and revoked_at is null`,
    given.map(([, ids]) => [ids].flat().join(' ')),
  );
};

const idsOf = (rows: readonly Revoked[]): string => rows.map(({ id }) => id).join(' ');

const revokeRows = (table: 'oauth_grant' | 'api_key') =>
  command<never>(`revoke_${table}s`, `update ${table} set revoked_at = now() where id = any(string_to_array($1, ' '))`);

const [revokeGrantRows, revokeKeyRows] = [revokeRows('oauth_grant'), revokeRows('api_key')];

/** Revokes locked grants. */
export const revokeGrantsStep = (grants: readonly Revoked[]) => [revokeGrantRows, [idsOf(grants)]] as const;

/** Revokes locked API keys. */
export const revokeKeysStep = (keys: readonly Revoked[]) => [revokeKeyRows, [idsOf(keys)]] as const;

/**
 * Revokes the grants that match and the API keys that were created through them. Records each.
 * @returns the number of revoked grants
 */
export async function revokeGrants(tx: EntityManager, filter: GrantFilter, reason: string): Promise<number> {
  const grants = await recordGrantEnds(tx, filter, reason, (ids) =>
    revokeApiKeys(tx, { grant: ids }, 'its grant ended'),
  );
  if (grants.length > 0) await runStep(tx, revokeGrantsStep(grants));
  return grants.length;
}

/** Revokes the API keys that match. Records each. @returns the number of revoked keys */
export async function revokeApiKeys(tx: EntityManager, filter: KeyFilter, reason?: string): Promise<number> {
  const keys = await recordKeyEnds(tx, filter, reason);
  if (keys.length > 0) await runStep(tx, revokeKeysStep(keys));
  return keys.length;
}

/** Locks the grants that match and their API keys, and records their end. The caller deletes the rows. */
export const recordDeletedGrants = (tx: EntityManager, filter: GrantFilter, reason: string): Promise<RevokedGrant[]> =>
  recordGrantEnds(tx, filter, reason, (ids) => recordKeyEnds(tx, { grant: ids }, 'its grant ended'));

async function recordGrantEnds(
  tx: EntityManager,
  filter: GrantFilter,
  reason: string,
  // Reads the keys after locking the grants, so that no key is created through a grant while it is revoked.
  endKeys: (grantIds: readonly string[]) => Promise<unknown>,
): Promise<RevokedGrant[]> {
  const grants = await lockLive<RevokedGrant>(tx, 'oauth_grant', 'id, account_id, client_id, team_id', filter);
  if (grants.length === 0) return grants;
  await endKeys(grants.map(({ id }) => id));
  await recordMany(
    tx,
    'oauth_grant.revoked',
    grants.map((grant) => grantFields(grant, reason)),
  );
  return grants;
}

async function recordKeyEnds(tx: EntityManager, filter: KeyFilter, reason: string | undefined): Promise<Revoked[]> {
  const keys = await lockLive<RevokedKey>(tx, 'api_key', 'id, account_id, team_id, name', filter);
  await recordMany(
    tx,
    'api_key.revoked',
    keys.map((key) => keyFields(key, reason)),
  );
  return keys;
}

/** Deletes consents whose codes were not exchanged yet, so that an exchange does not restore access. */
export async function deletePendingConsents(tx: EntityManager, where: FilterQuery<OAuthTokenFamily>): Promise<void> {
  await tx.nativeDelete(OAuthTokenFamily, { $and: [where, { grant: null }] });
}
