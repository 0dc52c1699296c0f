import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { endTokens } from '../accounts/email-link-token.ts';
import { revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import { ApiKey, KnownDevice, Membership, Passkey, PasskeyChallenge, type Account } from '../../entities/index.ts';
import { endSessions } from '../sessions/sessions.service.ts';

/**
 * Ends whatever somebody can have prepared in an account whose mailbox nobody had proven, before
 * somebody else gets it. Keys of a member stay: only the operator makes such an account a member.
 */
export async function endPrepared(tx: EntityManager, account: Account): Promise<void> {
  record(tx, 'account.reclaimed', { accountId: account.id });
  await endTokens(tx, account.id);
  await endSessions(tx, { account: account.id }, 'account taken over by its mailbox');
  await tx.nativeDelete(Passkey, { account: account.id });
  await tx.nativeDelete(PasskeyChallenge, { account: account.id });
  await tx.nativeDelete(KnownDevice, { account: account.id });
  await revokeGrants(tx, { account: account.id }, 'account taken over by its mailbox');
  if (await isMember(tx, account)) return;
  await revokeApiKeys(tx, { account: account.id }, 'account taken over by its mailbox');
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
