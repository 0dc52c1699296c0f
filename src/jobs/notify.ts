import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../entities/index.ts';
import { accountMailKey, enqueue, type SecurityNotice } from './enqueue.ts';

/**
 * Queues a security notice to the owner of an account, in the transaction of what it reports. No limit applies to
 * notices, because only someone in the account can cause them; several of one kind that wait are sent as one.
 * An unverified mailbox gets none: it may be a stranger's.
 */
export async function notify(tx: EntityManager, accountId: string, notice: SecurityNotice): Promise<void> {
  const account = await tx.findOne(Account, accountId);
  if (!account?.email || !account.emailVerifiedAt) return;
  const payload = { ...notice, accountId, to: account.email };
  await enqueue(tx, 'sendAccountMail', payload, accountMailKey(payload));
}
