import { z } from 'zod';
import { authorizationId, continuation } from '../oauth-consent/continuation.ts';
import { PASSWORD_LENGTH } from '../../crypto/password-hash.ts';
import { emailAddress, givenPassword, personName, success, text, timestamp } from '../../procedures/fields.ts';

/** A password to set. */
export const newPassword = text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max);

/** The token of a link. A malformed one gets the same error as an expired one. */
export const linkToken = z.string();

/** Links whose pages show nothing of the account. */
export const checkLinkInput = z.object({ purpose: z.enum(['reset_password', 'change_email']), token: linkToken });

export const readApplicationInput = z.object({ authorizationId: text(1, 255) });

/** Null if there is none, or one of others. */
export const readApplicationOutput = z.object({ name: z.string() }).nullable();

export const policyOutput = z.object({ signup: z.enum(['open', 'invited', 'closed']) });

export const signUpInput = z.object({
  email: emailAddress,
  password: newPassword,
  firstName: personName.optional(),
  lastName: personName.optional(),
  invitationToken: linkToken.optional(),
  authorizationId,
});
export type SignUp = z.infer<typeof signUpInput>;

export const signUpOutput = z.object({ signedIn: z.boolean(), continueTo: continuation.optional() });

/** Who wants a link, and the request of an application that it continues. */
export const requestLinkInput = z.object({ email: emailAddress, authorizationId });

/** The name of the application to which a link leads. */
const application = z.string().optional();

export const checkLinkOutput = z.object({
  isUsable: z.boolean(),
  application,
  /** The address that a used link has verified, only for a session of its account. */
  verified: z.string().optional(),
});

export const signInLinkOutput = z.object({ email: z.string(), application });

/** A link was used. */
export const usedLinkOutput = success.extend({ continueTo: continuation.optional() });

export const signInInput = z.object({ email: emailAddress, password: givenPassword });
export type SignIn = z.infer<typeof signInInput>;

/**
 * Other browsers than that of the sign-up also need its password, or set a new one. Of an account that the operator moved to
 * the address they need its password, or create an account of their own.
 */
export const verifyEmailInput = z.object({
  token: linkToken,
  password: givenPassword.optional(),
  newPassword: newPassword.optional(),
  ownAccountPassword: newPassword.optional(),
});
export type Verification = z.infer<typeof verifyEmailInput>;

export const verificationOutput = z.object({
  email: z.string(),
  needsPassword: z.boolean(),
  /** The operator moved an account to the address. */
  isMoved: z.literal(true).optional(),
  /** The link cannot be used, and the address of the session is verified. */
  isVerified: z.literal(true).optional(),
  application,
});

export const pendingSignUpOutput = z.object({ email: z.string(), expiresAt: timestamp }).nullable();

export const resetPasswordInput = z.object({ token: linkToken, password: newPassword });

/** The remaining access after a reset or change of the password, and the token that revokes all of it. */
export const remainingAccessOutput = success.extend({
  access: z.array(
    z.object({
      kind: z.enum(['passkey', 'api_key', 'connected_app']),
      id: z.string(),
      name: z.string(),
      createdAt: timestamp,
      lastUsedAt: timestamp.nullable(),
    }),
  ),
  revocationToken: z.string(),
});

export const resetPasswordOutput = remainingAccessOutput.extend({ continueTo: continuation.optional() });

/** An address was verified. `remaining` is what else gives access to an account that the operator had moved. */
export const verifiedOutput = usedLinkOutput.extend({
  remaining: remainingAccessOutput.omit({ success: true }).optional(),
});
