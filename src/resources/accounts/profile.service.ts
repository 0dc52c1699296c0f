import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { hasRecentProof } from '../../auth/recent-proof.ts';
import { Account } from '../../entities/index.ts';
import { addDays } from '../../time.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import { change } from '../../transactions/change.ts';
import { removePicture } from '../pictures/pictures.service.ts';
import { longestSession } from '../sessions/longest-session.ts';

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
  const isProven = preferredLocale !== undefined && (await hasRecentProof(db, caller));
  const spec = { on: { account: caller.accountId }, requires: 'self' } as const;
  return change(db, caller, spec, async (tx) => {
    const account = await tx.em.findOneOrFail(Account, caller.accountId);
    const isNewLocale = preferredLocale !== undefined && preferredLocale !== (account.preferredLocale ?? null);
    const changed = assignChanged(account, { firstName, lastName, avatar });
    if (changed.includes('avatar')) removePicture(tx, { account: account.id });
    if (preferredLocale !== undefined)
      changeLocale(account, preferredLocale, isProven ? null : await longestSession(tx.run, config.sessionDays));
    if (changed.length > 0 || isNewLocale) tx.record('account.profile_changed', { accountId: account.id });
    return account;
  });
}

type Lasting = Awaited<ReturnType<typeof longestSession>>;

/**
 * Changes the language. Security notices keep the one before for as long as the session that changed it (`by`) can
 * last, so that a thief of a session cannot choose a language which the owner does not read.
 */
function changeLocale(account: Account, preferredLocale: string | null, by: Lasting | null): void {
  if (by === null) Object.assign(account, { noticeLocale: null, noticeLocaleUntil: null });
  else {
    const isKept = account.noticeLocaleUntil && account.noticeLocaleUntil > by.now;
    if (!isKept) account.noticeLocale = account.preferredLocale ?? null;
    account.noticeLocaleUntil = addDays(by.now, by.days);
  }
  account.preferredLocale = preferredLocale;
}
