import { z } from 'zod';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { listGrants } from './oauth-grants.queries.ts';
import { grantOutput, narrowInput, revokeInput } from './oauth-grants.schema.ts';
import { reduceScopes, revokeGrant } from './oauth-grants.service.ts';

/** The connected apps of an account. Available only over tRPC. */
export const grantsRouter = router({
  list: sessionProcedure
    .output(z.array(grantOutput))
    .query(({ ctx }) => listGrants(ctx.services.db, ctx.principal.accountId)),

  narrow: sessionProcedure
    .meta({ effect: 'none' })
    .input(narrowInput)
    .output(grantOutput)
    .mutation(({ ctx, input }) => reduceScopes(ctx.services.db, ctx.principal, input.grantId, input.scopes)),

  revoke: sessionProcedure
    .meta({ effect: 'none' })
    .input(revokeInput)
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeGrant(ctx.services.db, ctx.principal, input.grantId);
      return SUCCESS;
    }),
});
