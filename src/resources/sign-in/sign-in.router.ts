import { z } from 'zod';
import { publicProcedure } from '../../procedures/procedures.ts';
import { emailAddress, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import {
  checkLinkInput,
  linkToken,
  policyOutput,
  pendingSignUpOutput,
  resetPasswordInput,
  resetPasswordOutput,
  signInInput,
  signUpInput,
  signUpOutput,
  verificationOutput,
  verifyEmailInput,
} from './sign-in.schema.ts';
import { iso } from '../../db/query.ts';
import { isLinkUsable, requestLink } from './email-link.ts';
import { resetPassword } from './password.service.ts';
import { createRevocationToken, listRemainingAccess, revokeRemainingAccess } from './remaining-access.ts';
import { signIn, signOut } from './sign-in.service.ts';
import { signUp } from './sign-up.service.ts';
import { readSignInLink, signInWithLink } from './sign-in-link.service.ts';
import { readVerification, resendVerification, verifyEmail } from './verification.service.ts';

/** The procedures for sign-up, sign-in and recovery by email. Available only over tRPC. */
export const authRouter = router({
  policy: publicProcedure.output(policyOutput).query(({ ctx }) => ({ signup: ctx.services.config.signup })),

  signUp: publicProcedure
    .input(signUpInput)
    .output(signUpOutput)
    .mutation(async ({ ctx, input }) => ({
      signedIn: await signUp(ctx.services, ctx.browserClient, ctx.authentication.principal, input),
    })),

  /** The pending sign-up of this browser, until its email address is verified. */
  pendingSignUp: publicProcedure.output(pendingSignUpOutput).query(({ ctx: { authentication } }) => {
    const signUp = authentication.principal === null ? authentication.signUp : undefined;
    return signUp === undefined ? null : { email: signUp.email, expiresAt: iso(signUp.expiresAt) };
  }),

  readVerification: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(verificationOutput)
    .query(({ ctx, input }) =>
      readVerification(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token),
    ),

  verifyEmail: publicProcedure
    .input(verifyEmailInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await verifyEmail(ctx.services, ctx.browserClient, ctx.authentication.principal, input);
      return SUCCESS;
    }),

  resendVerification: publicProcedure
    .input(z.object({ email: emailAddress }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await resendVerification(ctx.services, ctx.browserClient, input.email);
      return SUCCESS;
    }),

  signIn: publicProcedure
    .input(signInInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await signIn(ctx.services, ctx.browserClient, ctx.authentication.principal, input);
      return SUCCESS;
    }),

  emailSignInLink: publicProcedure
    .input(z.object({ email: emailAddress }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await requestLink(ctx.services, ctx.browserClient, input.email, 'sign_in');
      return SUCCESS;
    }),

  readSignInLink: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(z.object({ email: z.string() }))
    .query(({ ctx, input }) => readSignInLink(ctx.services, ctx.browserClient, input.token)),

  signInWithLink: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await signInWithLink(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token);
      return SUCCESS;
    }),

  signOut: publicProcedure.output(success).mutation(async ({ ctx }) => {
    await signOut(ctx.services, ctx.browserClient, ctx.authentication);
    return SUCCESS;
  }),

  forgotPassword: publicProcedure
    .input(z.object({ email: emailAddress }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await requestLink(ctx.services, ctx.browserClient, input.email, 'reset_password');
      return SUCCESS;
    }),

  /** Whether a link could be used now. Asking does not use it. */
  checkLink: publicProcedure
    .input(checkLinkInput)
    .output(z.object({ isUsable: z.boolean() }))
    .query(async ({ ctx, input }) => ({ isUsable: await isLinkUsable(ctx.services, ctx.browserClient, input) })),

  resetPassword: publicProcedure
    .input(resetPasswordInput)
    .output(resetPasswordOutput)
    .mutation(async ({ ctx, input }) => {
      const accountId = await resetPassword(ctx.services, ctx.browserClient, input);
      return {
        ...SUCCESS,
        access: await listRemainingAccess(ctx.services.db, accountId),
        revocationToken: createRevocationToken(ctx.services, accountId),
      };
    }),

  revokeRemainingAccess: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeRemainingAccess(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token);
      return SUCCESS;
    }),
});
