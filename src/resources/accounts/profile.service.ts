import { record } from '../../events/record.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { withAccount } from '../../transactions/with-account.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Account } from '../../entities/index.ts';

type Profile = { readonly avatar?: string | null | undefined; readonly preferredLocale?: string | null | undefined };

/** Updates the given properties of an account. Omitted ones keep their value. */
export async function updateProfile(
  db: TransactionScope,
  caller: Principal,
  { avatar, preferredLocale }: Profile,
): Promise<Account> {
  return withAccount(db, caller, async ({ tx, account }) => {
    if (avatar !== undefined) account.avatar = avatar;
    if (preferredLocale !== undefined) account.preferredLocale = preferredLocale;
    record(tx, 'account.profile_changed', { accountId: account.id });
    return account;
  });
}
