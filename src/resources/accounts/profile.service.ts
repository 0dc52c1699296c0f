import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { readProof } from '../../auth/recent-proof.ts';
import type { Account } from '../../entities/index.ts';
import { record } from '../../events/record.ts';
import { DAY_MS } from '../../time.ts';
import { withAccount } from '../../transactions/with-account.ts';
import { removePicture } from '../pictures/pictures.service.ts';

type Profile = {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly avatar?: string | null | undefined;
  readonly preferredLocale?: string | null | undefined;
};

/** Updates the given properties of an account. Omitted ones keep their value. */
export async function updateProfile(
  { db, config }: Services,
  caller: Principal,
  { firstName, lastName, avatar, preferredLocale }: Profile,
): Promise<Account> {
  const isProven = preferredLocale !== undefined && (await readProof(db, caller)).provenUntil !== null;
  return withAccount(db, caller, async ({ tx, account }) => {
    if (firstName !== undefined) account.firstName = firstName;
    if (lastName !== undefined) account.lastName = lastName;
    if (avatar !== undefined && avatar !== account.avatar) {
      await removePicture(tx, { account: account.id });
      account.avatar = avatar;
    }
    if (preferredLocale !== undefined) changeLocale(account, preferredLocale, isProven ? 0 : config.sessionDays);
    record(tx, 'account.profile_changed', { accountId: account.id });
    return account;
  });
}

/**
 * Changes the language. Security notices keep the one before for `days`: as long as the session that changed it can
 * last, so that a thief of a session cannot choose a language which the owner does not read.
 */
function changeLocale(account: Account, preferredLocale: string | null, days: number): void {
  const now = Date.now();
  const isKept = (account.noticeLocaleUntil?.getTime() ?? 0) > now;
  if (days === 0) Object.assign(account, { noticeLocale: null, noticeLocaleUntil: null });
  else if (isKept) account.noticeLocaleUntil = new Date(now + days * DAY_MS);
  else
    Object.assign(account, {
      noticeLocale: account.preferredLocale ?? null,
      noticeLocaleUntil: new Date(now + days * DAY_MS),
    });
  account.preferredLocale = preferredLocale;
}
