import { z } from 'zod';
import { publicProcedure, sessionProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { accountOutput } from '../me/me.schema.ts';
import {
  changeEmailInput,
  changePasswordInput,
  exportOutput,
  ownEventsInput,
  ownEventsOutput,
  presentAccount,
  proofOutput,
  proveInput,
  updateProfileInput,
} from './accounts.schema.ts';
import { listOwnEvents } from './activity.queries.ts';
import { deleteAccount } from './deletion.service.ts';
import { changeEmail, confirmEmailChange } from './email.service.ts';
import { exportAccount } from './export.queries.ts';
import { changePassword } from './password.service.ts';
import { updateProfile } from './profile.service.ts';
import { proveByPassword } from './proof.service.ts';
import { readProof } from '../../auth/recent-proof.ts';

/** The procedures of a user's own account. Available only over tRPC. */
export const accountConsoleRouter = router({
  proof: sessionProcedure.output(proofOutput).query(async ({ ctx }) => {
    const proof = await readProof(ctx.services.db, ctx.principal);
    return { ...proof, provenUntil: proof.provenUntil?.toISOString() ?? null };
  }),

  prove: sessionProcedure
    .input(proveInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await proveByPassword(ctx.services, ctx.browserClient, ctx.principal, input.password);
      return SUCCESS;
    }),

  changePassword: sessionProcedure
    .input(changePasswordInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await changePassword(ctx.services, ctx.browserClient, ctx.principal, input.newPassword);
      return SUCCESS;
    }),

  changeEmail: sessionProcedure
    .input(changeEmailInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await changeEmail(ctx.services, ctx.browserClient, ctx.principal, input.newEmail);
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
    .mutation(async ({ ctx, input }) => presentAccount(await updateProfile(ctx.services, ctx.principal, input))),

  activity: sessionProcedure
    .input(ownEventsInput)
    .output(ownEventsOutput)
    .query(({ ctx: { services, principal }, input }) => listOwnEvents(services.db, principal.accountId, input)),

  export: sessionProcedure
    .output(exportOutput)
    .query(({ ctx: { services, principal } }) => exportAccount(services.db, principal.accountId)),

  delete: sessionProcedure.output(success).mutation(async ({ ctx }) => {
    await deleteAccount(ctx.services, ctx.browserClient, ctx.principal);
    return SUCCESS;
  }),
});
