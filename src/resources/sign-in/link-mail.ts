import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { issueToken } from '../accounts/email-link-token.ts';
import type { Account, TokenPurpose } from '../../entities/index.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { Services } from '../../app-services.ts';

/** Makes a link and queues the mail that carries it, in one transaction. */
export async function mailLink(
  tx: EntityManager,
  { secrets, sealer }: Services,
  account: Account,
  kind: TokenPurpose,
  to: string,
): Promise<void> {
  const token = issueToken(tx, secrets, account, kind, to);
  record(tx, 'account.link_mailed', { accountId: account.id, reason: kind });
  await tx.flush();
  const mail = { kind, accountId: account.id, to, sealedToken: sealer.seal(token) };
  await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
}
