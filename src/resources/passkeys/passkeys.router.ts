import { z } from 'zod';
import { proofProcedure, publicProcedure, sessionProcedure, signInProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { listPasskeys } from './passkeys.queries.ts';
import {
  passkeyOutput,
  proofOptions,
  registerInput,
  registrationOptions,
  removeInput,
  renameInput,
  signInInput,
  signInOptions,
} from './passkeys.schema.ts';
import * as passkeys from './passkeys.service.ts';

export const passkeysRouter = router({
  registrationOptions: sessionProcedure
    .meta({ effect: 'weakens' })
    .output(registrationOptions)
    .mutation(({ ctx }) => passkeys.offerRegistration(ctx.services, ctx.principal)),

  register: sessionProcedure
    .meta({ effect: 'weakens' })
    .input(registerInput)
    .output(passkeyOutput)
    .mutation(async ({ ctx, input }) =>
      passkeys.presentPasskey(await passkeys.registerPasskey(ctx.services, ctx.principal, input.name, input.response)),
    ),

  list: sessionProcedure
    .output(z.array(passkeyOutput))
    .query(({ ctx }) => listPasskeys(ctx.services.db, ctx.principal.accountId)),

  rename: sessionProcedure
    .meta({ effect: 'none' })
    .input(renameInput)
    .output(passkeyOutput)
    .mutation(async ({ ctx, input }) =>
      passkeys.presentPasskey(await passkeys.renamePasskey(ctx.services.db, ctx.principal, input.id, input.name)),
    ),

  remove: sessionProcedure
    .meta({ effect: 'weakens' })
    .input(removeInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await passkeys.removePasskey(ctx.services.db, ctx.principal, input.id);
      return SUCCESS;
    }),

  proofOptions: sessionProcedure
    .meta({ effect: 'none' })
    .output(proofOptions)
    .mutation(({ ctx }) => passkeys.offerProof(ctx.services, ctx.principal)),

  prove: proofProcedure
    .meta({ effect: 'none' })
    .input(signInInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await passkeys.proveByPasskey(ctx.services, ctx.browserClient, ctx.principal, input.response);
      return SUCCESS;
    }),

  signInOptions: publicProcedure
    .meta({ effect: 'none' })
    .output(signInOptions)
    .mutation(({ ctx }) => passkeys.offerSignIn(ctx.services)),

  signIn: signInProcedure
    .meta({ effect: 'none' })
    .input(signInInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await passkeys.signInWithPasskey(ctx.services, ctx.browserClient, ctx.authentication.principal, input.response);
      return SUCCESS;
    }),
});
