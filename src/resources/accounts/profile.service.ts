import { record } from '../../events/record.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { withAccount } from '../../transactions/with-account.ts';
import type { Principal } from '../../auth/principal.ts';
import { removePicture } from '../pictures/pictures.service.ts';
import type { Account } from '../../entities/index.ts';

type Profile = {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly avatar?: string | null | undefined;
  readonly preferredLocale?: string | null | undefined;
};

/** Updates the given properties of an account. Omitted ones keep their value. */
export async function updateProfile(
  db: TransactionScope,
  caller: Principal,
  { firstName, lastName, avatar, preferredLocale }: Profile,
): Promise<Account> {
  return withAccount(db, caller, async ({ tx, account }) => {
    if (firstName !== undefined) account.firstName = firstName;
    if (lastName !== undefined) account.lastName = lastName;
    if (avatar !== undefined && avatar !== account.avatar) {
      await removePicture(tx, { account: account.id });
      account.avatar = avatar;
    }
    if (preferredLocale !== undefined) account.preferredLocale = preferredLocale;
    record(tx, 'account.profile_changed', { accountId: account.id });
    return account;
  });
}
