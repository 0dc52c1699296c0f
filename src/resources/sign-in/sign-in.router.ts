import { z } from 'zod';
import { publicProcedure, READ_BY_TOKEN, signInProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import {
  checkLinkInput,
  checkLinkOutput,
  linkToken,
  policyOutput,
  readApplicationInput,
  readApplicationOutput,
  pendingSignUpOutput,
  requestLinkInput,
  resetPasswordInput,
  resetPasswordOutput,
  signInInput,
  signInLinkOutput,
  signUpInput,
  signUpOutput,
  usedLinkOutput,
  verificationOutput,
  verifiedOutput,
  verifyEmailInput,
} from './sign-in.schema.ts';
import { findApplicationOfRequest } from '../oauth-consent/continuation.ts';
import { iso } from '../../db/query.ts';
import { checkLink } from './email-link.ts';
import { requestLink } from './requested-link.ts';
import { resetPassword } from './password.service.ts';
import { offerRevocation, revokeRemainingAccess } from './remaining-access.ts';
import { signIn, signOut } from './sign-in.service.ts';
import { signUp } from './sign-up.service.ts';
import { readSignInLink, signInWithLink } from './sign-in-link.service.ts';
import { readVerification, verifyEmail } from './verification.service.ts';

/** The procedures for sign-up, sign-in and recovery by email. Available only over tRPC. */
export const authRouter = router({
  /** The application from which the user of this browser came, if it is one of the operator. */
  readApplication: publicProcedure
    .input(readApplicationInput)
    .output(readApplicationOutput)
    .query(({ ctx: { services, browserClient }, input: { authorizationId: id } }) =>
      findApplicationOfRequest(services, { id, browserToken: browserClient.browserToken }),
    ),

  policy: publicProcedure.output(policyOutput).query(({ ctx }) => ({ signup: ctx.services.config.signup })),

  signUp: signInProcedure
    .meta({ effect: 'none' })
    .input(signUpInput)
    .output(signUpOutput)
    .mutation(({ ctx, input }) => signUp(ctx.services, ctx.browserClient, ctx.authentication.principal, input)),

  /** The pending sign-up of this browser, until its email address is verified. */
  pendingSignUp: publicProcedure.output(pendingSignUpOutput).query(({ ctx: { authentication } }) => {
    const signUp = authentication.principal === null ? authentication.signUp : undefined;
    return signUp === undefined ? null : { email: signUp.email, expiresAt: iso(signUp.expiresAt) };
  }),

  readVerification: publicProcedure
    .meta(READ_BY_TOKEN)
    .input(z.object({ token: linkToken }))
    .output(verificationOutput)
    .mutation(({ ctx, input }) =>
      readVerification(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token),
    ),

  verifyEmail: signInProcedure
    .meta({ effect: 'none' })
    .input(verifyEmailInput)
    .output(verifiedOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, browserClient, authentication } = ctx;
      const { continueTo, remaining } = await verifyEmail(services, browserClient, authentication.principal, input);
      return { ...SUCCESS, ...(continueTo && { continueTo }), ...(remaining && { remaining }) };
    }),

  resendVerification: publicProcedure
    .meta({ effect: 'none' })
    .input(requestLinkInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await requestLink(ctx.services, ctx.browserClient, input, 'verify_email');
      return SUCCESS;
    }),

  signIn: signInProcedure
    .meta({ effect: 'none' })
    .input(signInInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await signIn(ctx.services, ctx.browserClient, ctx.authentication.principal, input);
      return SUCCESS;
    }),

  emailSignInLink: publicProcedure
    .meta({ effect: 'none' })
    .input(requestLinkInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await requestLink(ctx.services, ctx.browserClient, input, 'sign_in');
      return SUCCESS;
    }),

  readSignInLink: publicProcedure
    .meta(READ_BY_TOKEN)
    .input(z.object({ token: linkToken }))
    .output(signInLinkOutput)
    .mutation(({ ctx, input }) => readSignInLink(ctx.services, ctx.browserClient, input.token)),

  signInWithLink: signInProcedure
    .meta({ effect: 'none' })
    .input(z.object({ token: linkToken }))
    .output(usedLinkOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, browserClient, authentication } = ctx;
      const continueTo = await signInWithLink(services, browserClient, authentication.principal, input.token);
      return { ...SUCCESS, ...(continueTo && { continueTo }) };
    }),

  signOut: publicProcedure
    .meta({ effect: 'none' })
    .output(success)
    .mutation(async ({ ctx }) => {
      await signOut(ctx.services.db, ctx.browserClient, ctx.authentication);
      return SUCCESS;
    }),

  forgotPassword: publicProcedure
    .meta({ effect: 'none' })
    .input(requestLinkInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await requestLink(ctx.services, ctx.browserClient, input, 'reset_password');
      return SUCCESS;
    }),

  /** Whether a link could be used now, and where it leads. Asking does not use it. */
  checkLink: publicProcedure
    .meta(READ_BY_TOKEN)
    .input(checkLinkInput)
    .output(checkLinkOutput)
    .mutation(({ ctx, input }) => checkLink(ctx.services, ctx.browserClient, ctx.authentication.principal, input)),

  resetPassword: publicProcedure
    .meta({ effect: 'weakens by link' })
    .input(resetPasswordInput)
    .output(resetPasswordOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, browserClient, authentication } = ctx;
      const { accountId, continueTo } = await resetPassword(services, browserClient, authentication.principal, input);
      const remaining = await offerRevocation(services, accountId, 'password reset');
      return { ...SUCCESS, ...remaining, ...(continueTo && { continueTo }) };
    }),

  revokeRemainingAccess: publicProcedure
    .meta({ effect: 'none' })
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeRemainingAccess(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token);
      return SUCCESS;
    }),
});
