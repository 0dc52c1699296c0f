import { ProblemError } from '../../errors.ts';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { readAuthorization } from './oauth-consent.queries.ts';
import { approveInput, authorizationInput, authorizationOutput, decisionOutput } from './oauth-consent.schema.ts';
import { approve, deny } from './oauth-consent.service.ts';

/** The procedures of the consent page. A request can be answered only in the browser that started it. */
export const authorizationsRouter = router({
  read: sessionProcedure
    .input(authorizationInput)
    .output(authorizationOutput)
    .query(async ({ ctx, input }) => {
      const hold = { id: input.id, browserToken: ctx.browserClient.browserToken };
      const authorization = await readAuthorization(ctx.services.db, hold, ctx.principal.accountId);
      if (authorization === null) throw new ProblemError('authorization_not_found');
      return authorization;
    }),

  approve: sessionProcedure
    .input(approveInput)
    .output(decisionOutput)
    .mutation(async ({ ctx, input: { id, ...approval } }) => {
      const hold = { id, browserToken: ctx.browserClient.browserToken };
      return { redirectTo: await approve(ctx.services, ctx.principal, hold, approval) };
    }),

  deny: sessionProcedure
    .input(authorizationInput)
    .output(decisionOutput)
    .mutation(async ({ ctx, input: { id } }) => {
      const hold = { id, browserToken: ctx.browserClient.browserToken };
      return { redirectTo: await deny(ctx.services, ctx.principal, hold) };
    }),
});
