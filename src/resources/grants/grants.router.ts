import { z } from 'zod';
import { sessionProcedure } from '../../rpc/procedures.ts';
import { SUCCESS, success } from '../../rpc/text.ts';
import { router } from '../../rpc/trpc.ts';
import { listGrants } from './grants.queries.ts';
import { grantOutput, narrowInput, revokeInput } from './grants.schema.ts';
import { narrowGrant, revokeGrant } from './grants.service.ts';

/** The applications that a person has connected. Over tRPC only. */
export const grantsRouter = router({
  list: sessionProcedure
    .output(z.array(grantOutput))
    .query(({ ctx }) => listGrants(ctx.services.db.read, ctx.principal.accountId)),

  narrow: sessionProcedure
    .input(narrowInput)
    .output(grantOutput)
    .mutation(({ ctx, input }) => narrowGrant(ctx.services, ctx.principal, input.grantId, input.scopes)),

  revoke: sessionProcedure
    .input(revokeInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeGrant(ctx.services, ctx.principal, input.grantId);
      return SUCCESS;
    }),
});
