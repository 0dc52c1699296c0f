import { z } from 'zod';
import { cursorsOf } from '../../procedures/cursors.ts';
import {
  proofProcedure,
  publicProcedure,
  sessionOrAppProcedure,
  sessionProcedure,
  sessionRenewalProcedure,
} from '../../procedures/procedures.ts';
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
import { remainingAccessOutput } from '../sign-in/sign-in.schema.ts';
import { offerRevocation } from '../sign-in/remaining-access.ts';
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

  prove: proofProcedure
    .meta({ effect: 'none' })
    .input(proveInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await proveByPassword(ctx.services.db, ctx.browserClient, ctx.principal, input.password);
      return SUCCESS;
    }),

  changePassword: sessionRenewalProcedure
    .meta({ effect: 'weakens' })
    .input(changePasswordInput)
    .output(remainingAccessOutput)
    .mutation(async ({ ctx, input }) => {
      await changePassword(ctx.services, ctx.browserClient, ctx.principal, input.newPassword);
      const { accountId } = ctx.principal;
      return { ...SUCCESS, ...(await offerRevocation(ctx.services, accountId, 'password changed')) };
    }),

  changeEmail: sessionProcedure
    .meta({ effect: 'weakens' })
    .input(changeEmailInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await changeEmail(ctx.services, ctx.browserClient, ctx.principal, input.newEmail);
      return SUCCESS;
    }),

  confirmEmailChange: publicProcedure
    .meta({ effect: 'weakens by link' })
    .input(z.object({ token: z.string() }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await confirmEmailChange(ctx.services, ctx.browserClient, ctx.authentication.principal, input.token);
      return SUCCESS;
    }),

  updateProfile: sessionOrAppProcedure('profile:write')
    .meta({ effect: 'none' })
    .input(updateProfileInput)
    .output(accountOutput)
    .mutation(async ({ ctx, input }) => presentAccount(await updateProfile(ctx.services, ctx.principal, input))),

  activity: sessionProcedure
    .input(ownEventsInput)
    .output(ownEventsOutput)
    .query(({ ctx, input }) => listOwnEvents(ctx.services.db, cursorsOf(ctx), ctx.principal.accountId, input)),

  export: sessionProcedure
    .output(exportOutput)
    .query(({ ctx: { services, principal } }) => exportAccount(services.db, principal.accountId)),

  delete: sessionProcedure
    .meta({ effect: 'weakens' })
    .output(success)
    .mutation(async ({ ctx }) => {
      await deleteAccount(ctx.services.db, ctx.principal, ctx.principal.accountId);
      ctx.browserClient.clearSession();
      return SUCCESS;
    }),
});
