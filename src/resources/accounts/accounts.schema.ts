import type { Account } from '../../entities/index.ts';

/** An account as its owner sees it (spec 2.2). */
export const presentAccount = (account: Account) => ({
  id: account.id,
  email: account.email ?? null,
  firstName: account.firstName ?? null,
  lastName: account.lastName ?? null,
  role: account.role,
  avatar: account.avatar ?? null,
  preferredLocale: account.preferredLocale ?? null,
  emailVerified: account.emailVerifiedAt?.toISOString() ?? null,
  createdAt: account.createdAt.toISOString(),
  updatedAt: account.updatedAt.toISOString(),
});

/** An account as operators see it. */
export const presentAccountState = (account: Account) => ({
  ...presentAccount(account),
  disabled: Boolean(account.disabledAt),
});
