import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { endTokens } from '../accounts/email-link-token.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import { ApiKey, KnownDevice, Membership, Passkey, PasskeyChallenge, type Account } from '../../entities/index.ts';
import { endSessions } from '../sessions/sessions.service.ts';

/**
 * Ends whatever somebody can have prepared in an account whose mailbox nobody had proven, before
 * somebody else gets it. Keys of a member stay: only the operator makes such an account a member.
 */
export async function endPrepared(tx: EntityManager, account: Account): Promise<void> {
  record(tx, 'account.taken_over', { accountId: account.id });
  await endTokens(tx, account.id);
  await endSessions(tx, { account: account.id }, 'account taken over by its mailbox');
  await tx.nativeDelete(Passkey, { account: account.id });
  await tx.nativeDelete(PasskeyChallenge, { account: account.id });
  await tx.nativeDelete(KnownDevice, { account: account.id });
  await revokeGrants(tx, { account_id: account.id }, 'account taken over by its mailbox');
  if (await isMember(tx, account)) return;
  // In the order of their ids, as everywhere, so that writers of several keys cannot deadlock.
  const keys = await tx.execute<{ id: string; team_id: string | null }[]>(
    'select id, team_id from api_key where account_id = ? and revoked_at is null order by id for update',
    [account.id],
  );
  const [accountId, reason] = [account.id, 'account taken over by its mailbox'];
  for (const { id: keyId, team_id: teamId } of keys) {
    record(tx, 'api_key.revoked', { accountId, keyId, teamId, reason });
  }
  await tx.nativeUpdate(ApiKey, { account: account.id, revokedAt: null }, { revokedAt: new Date() });
  account.avatar = null;
  account.preferredLocale = null;
}

/**
 * Whether something depends on an account although its mailbox is not proven: the operator made it
 * so. Whoever only types its address must not get it.
 */
export async function isInUse(tx: EntityManager, account: Account): Promise<boolean> {
  return (
    account.role === 'admin' ||
    (await isMember(tx, account)) ||
    (await tx.count(ApiKey, { account: account.id, revokedAt: null })) > 0
  );
}

const isMember = async (tx: EntityManager, { id }: Account): Promise<boolean> =>
  (await tx.count(Membership, { account: id })) > 0;
