import { z } from 'zod';
import { publicProcedure, sessionProcedure } from '../../procedures/procedures.ts';
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
    .output(registrationOptions)
    .mutation(({ ctx }) => passkeys.offerRegistration(ctx.services, ctx.principal)),

  register: sessionProcedure
    .input(registerInput)
    .output(passkeyOutput)
    .mutation(async ({ ctx, input }) =>
      passkeys.presentPasskey(await passkeys.registerPasskey(ctx.services, ctx.principal, input.name, input.response)),
    ),

  list: sessionProcedure
    .output(z.array(passkeyOutput))
    .query(({ ctx }) => listPasskeys(ctx.services.db, ctx.principal.accountId)),

  rename: sessionProcedure
    .input(renameInput)
    .output(passkeyOutput)
    .mutation(({ ctx, input }) => passkeys.renamePasskey(ctx.services, ctx.principal, input.id, input.name)),

  remove: sessionProcedure
    .input(removeInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await passkeys.removePasskey(ctx.services, ctx.principal, input.id);
      return SUCCESS;
    }),

  proofOptions: sessionProcedure
    .output(proofOptions)
    .mutation(({ ctx }) => passkeys.offerProof(ctx.services, ctx.principal)),

  prove: sessionProcedure
    .input(signInInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await passkeys.proveByPasskey(ctx.services, ctx.browserClient, ctx.principal, input.response);
      return SUCCESS;
    }),

  signInOptions: publicProcedure.output(signInOptions).mutation(({ ctx }) => passkeys.offerSignIn(ctx.services)),

  signIn: publicProcedure
    .input(signInInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await passkeys.signInWithPasskey(ctx.services, ctx.browserClient, ctx.authentication.principal, input.response);
      return SUCCESS;
    }),
});
