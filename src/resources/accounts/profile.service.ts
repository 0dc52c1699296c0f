import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { lockAccount } from '../../transactions/locks.ts';
import type { Account } from '../../entities/index.ts';

type Profile = { readonly avatar?: string | null | undefined; readonly preferredLocale?: string | null | undefined };

/** Changes what is given and leaves the rest. */
export async function updateProfile(
  em: EntityManager,
  accountId: string,
  { avatar, preferredLocale }: Profile,
): Promise<Account> {
  return em.transactional(async (tx) => {
    const account = await lockAccount(tx, accountId);
    if (avatar !== undefined) account.avatar = avatar;
    if (preferredLocale !== undefined) account.preferredLocale = preferredLocale;
    record(tx, 'account.profile_changed', { accountId });
    return account;
  });
}
