import { z } from 'zod';
import { publicProcedure } from '../../procedures/procedures.ts';
import { emailAddress, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import {
  linkToken,
  policyOutput,
  resetPasswordInput,
  signInInput,
  signUpInput,
  signUpOutput,
} from './sign-in.schema.ts';
import { forgotPassword, resetPassword } from './password.service.ts';
import { signIn, signOut } from './sign-in.service.ts';
import { signUp } from './sign-up.service.ts';
import { resendVerification, verifyEmail } from './verification.service.ts';

/** Getting an account and a session, and getting back into one. Over tRPC only. */
export const authRouter = router({
  policy: publicProcedure.output(policyOutput).query(({ ctx }) => ({ signup: ctx.services.config.signup })),

  signUp: publicProcedure
    .input(signUpInput)
    .output(signUpOutput)
    .mutation(async ({ ctx, input }) => ({
      signedIn: await signUp(ctx.services, ctx.browserClient, ctx.authentication.principal, input),
    })),

  verifyEmail: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await verifyEmail(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token);
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

  signOut: publicProcedure.output(success).mutation(async ({ ctx }) => {
    await signOut(ctx.services, ctx.browserClient, ctx.authentication.principal);
    return SUCCESS;
  }),

  forgotPassword: publicProcedure
    .input(z.object({ email: emailAddress }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await forgotPassword(ctx.services, ctx.browserClient, input.email);
      return SUCCESS;
    }),

  resetPassword: publicProcedure
    .input(resetPasswordInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await resetPassword(ctx.services, ctx.browserClient, input);
      return SUCCESS;
    }),
});
