import { z } from 'zod';
import { publicProcedure, sessionProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { accountOutput } from '../me/me.schema.ts';
import {
  changeEmailInput,
  changePasswordInput,
  deleteInput,
  presentAccount,
  updateProfileInput,
} from './accounts.schema.ts';
import { deleteAccount } from './deletion.service.ts';
import { changeEmail, confirmEmailChange } from './email.service.ts';
import { changePassword } from './password.service.ts';
import { updateProfile } from './profile.service.ts';

/** What people do with their own account. Over tRPC only. */
export const accountConsoleRouter = router({
  changePassword: sessionProcedure
    .input(changePasswordInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await changePassword(ctx.services, ctx.browserClient, ctx.principal, input);
      return SUCCESS;
    }),

  changeEmail: sessionProcedure
    .input(changeEmailInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await changeEmail(ctx.services, ctx.browserClient, ctx.principal, input);
      return SUCCESS;
    }),

  confirmEmailChange: publicProcedure
    .input(z.object({ token: z.string() }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await confirmEmailChange(ctx.services, ctx.browserClient, input.token);
      return SUCCESS;
    }),

  updateProfile: sessionProcedure
    .input(updateProfileInput)
    .output(accountOutput)
    .mutation(async ({ ctx, input }) =>
      presentAccount(await updateProfile(ctx.services.db, ctx.principal.accountId, input)),
    ),

  delete: sessionProcedure
    .input(deleteInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await deleteAccount(ctx.services, ctx.browserClient, ctx.principal, input.password);
      return SUCCESS;
    }),
});
