import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../crypto/password-hash.ts';
import { emailAddress, text } from '../../procedures/fields.ts';

/** A password to be set. */
export const newPassword = text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max);

/** A password to be compared: one that nobody can have is wrong, and no fault of the request. Bounded before it is hashed. */
export const givenPassword = text(0, PASSWORD_LENGTH.max);

/** The token of a link. What is no token of ours is a link that does not work. */
export const linkToken = z.string();

export const policyOutput = z.object({ signup: z.enum(['open', 'invited', 'closed']) });

export const signUpInput = z.object({
  email: emailAddress,
  password: newPassword,
  firstName: text(2, 255).optional(),
  lastName: text(2, 255).optional(),
  invitationToken: linkToken.optional(),
});
export type SignUp = z.infer<typeof signUpInput>;

export const signUpOutput = z.object({ signedIn: z.boolean() });

export const signInInput = z.object({ email: emailAddress, password: givenPassword });
export type SignIn = z.infer<typeof signInInput>;

export const resetPasswordInput = z.object({ token: linkToken, password: newPassword });
