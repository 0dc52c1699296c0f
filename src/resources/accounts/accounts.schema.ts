import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../crypto/password-hash.ts';
import type { Account } from '../../entities/index.ts';
import { emailAddress, readableName, text, timestamp } from '../../procedures/fields.ts';

/** A password to verify. Its length is limited before it is hashed. */
const givenPassword = text(0, PASSWORD_LENGTH.max);

export const proveInput = z.object({ password: givenPassword });

/** The methods of a recent proof, and until when the last proof is valid. */
export const proofOutput = z.object({
  provenUntil: timestamp.nullable(),
  hasPassword: z.boolean(),
  hasPasskey: z.boolean(),
});

export const changePasswordInput = z.object({ newPassword: text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max) });

export const changeEmailInput = z.object({ newEmail: emailAddress });

/** Spaces and control characters, which `URL` drops or encodes: the stored text would not be the parsed URL. */
const UNSAFE_IN_URL = /[\p{C}\p{Z}\\]/u;

/** Pages load the avatar from this URL, so it is https and contains no credentials. */
export const avatarUrl = text(1, 2048).check(({ value, issues }) => {
  const url = UNSAFE_IN_URL.test(value) ? null : URL.parse(value);
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return;
  issues.push({ code: 'invalid_format', format: 'url', input: value });
});

/** A language tag (BCP 47), stored in its canonical spelling. */
export const locale = text(1, 100).transform((value, { issues }) => {
  try {
    return Intl.getCanonicalLocales(value)[0] ?? null;
  } catch {
    issues.push({ code: 'invalid_format', format: 'language_tag', input: value });
    return z.NEVER;
  }
});

/** People can have one name. REST asks for both (section 4 of the contract), this call for neither. */
export const updateProfileInput = z.object({
  firstName: readableName(1, 255).nullable().optional(),
  lastName: readableName(1, 255).nullable().optional(),
  avatar: avatarUrl.nullable().optional(),
  preferredLocale: locale.nullable().optional(),
});

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
