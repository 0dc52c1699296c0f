import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey, Membership, OAuthGrant, OwnershipTransfer } from '../entities/index.ts';
import { record } from '../events/record.ts';

/** Which grants end: one, those of an account, of a client, or for a team; of several, those that are all of it. */
type Ending = Readonly<Partial<Record<'id' | 'account_id' | 'client_id' | 'team_id', string>>>;

type Row = {
  readonly id: string;
  readonly account_id: string;
  readonly client_id: string;
  readonly team_id: string | null;
};

type KeyRow = Pick<Row, 'id' | 'account_id' | 'team_id'>;

/**
 * Ends grants, and with each the API keys that were made through it. Locks the grants in the order
 * of their ids, after any team, account and membership and before any key; each is recorded.
 */
export async function revokeGrants(tx: EntityManager, ending: Ending, reason: string): Promise<void> {
  const columns = Object.keys(ending);
  const rows = await tx.execute<Row[]>(
    `select id, account_id, client_id, team_id from oauth_grant
     where ${columns.map((column) => `${column} = ?`).join(' and ')} and revoked_at is null order by id for update`,
    Object.values(ending),
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await tx.nativeUpdate(OAuthGrant, { id: { $in: ids } }, { revokedAt: new Date() });
  // Under the lock: a key that is being made through one of them is made by now, or never will be.
  const keys = await tx.execute<KeyRow[]>(
    `select id, account_id, team_id from api_key where oauth_grant_id in (${ids.map(() => '?').join(', ')}) and revoked_at is null order by id for update`,
    ids,
  );
  await tx.nativeUpdate(ApiKey, { oauthGrant: { $in: ids }, revokedAt: null }, { revokedAt: new Date() });
  for (const { id: keyId, account_id: accountId, team_id: teamId } of keys) {
    record(tx, 'api_key.revoked', { accountId, keyId, teamId, reason: 'its grant ended' });
  }
  for (const { id, account_id: accountId, client_id: clientId, team_id: teamId } of rows) {
    record(tx, 'oauth_grant.revoked', { accountId, clientId, grantId: id, teamId, reason });
  }
}

/** Ends a locked membership, and with it the account's grants and keys for the team and an offer of ownership to it. */
export async function endMembership(tx: EntityManager, membership: Membership): Promise<void> {
  const team = membership.team.id;
  const account = membership.account.id;
  await tx.nativeDelete(OwnershipTransfer, { team, nominee: account });
  await tx.nativeDelete(Membership, { id: membership.id });
  await revokeGrants(tx, { team_id: team, account_id: account }, 'membership ended');
  // In the order of their ids, as everywhere, so that writers of several keys cannot deadlock.
  const keys = await tx.execute<{ id: string }[]>(
    'select id from api_key where team_id = ? and account_id = ? and revoked_at is null order by id for update',
    [team, account],
  );
  await tx.nativeUpdate(ApiKey, { team, account, revokedAt: null }, { revokedAt: new Date() });
  for (const { id: keyId } of keys) {
    record(tx, 'api_key.revoked', { accountId: account, keyId, teamId: team, reason: 'membership ended' });
  }
}
