import { ProblemError } from '../../problems/error.ts';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { readAuthorization } from './oauth-consent.queries.ts';
import {
  approveInput,
  authorizationInput,
  continueInput,
  authorizationOutput,
  decisionOutput,
} from './oauth-consent.schema.ts';
import { continueAs } from './first-party.service.ts';
import { approve, deny } from './oauth-consent.service.ts';

/** The procedures of the consent page. A request can be answered only in the browser that started it. */
export const authorizationsRouter = router({
  read: sessionProcedure
    .input(authorizationInput)
    .output(authorizationOutput)
    .query(async ({ ctx, input }) => {
      const hold = { id: input.id, browserToken: ctx.browserClient.browserToken };
      const authorization = await readAuthorization(ctx.services, hold, ctx.principal);
      if (authorization === null) throw new ProblemError('authorization_not_found');
      return authorization;
    }),

  approve: sessionProcedure
    .meta({ effect: 'widens' })
    .input(approveInput)
    // Before the proof, which would be asked of somebody else than the page shows.
    .use(({ ctx, input, next }) => {
      if (input.accountId !== ctx.principal.accountId) throw new ProblemError('account_changed');
      return next();
    })
    .output(decisionOutput)
    .mutation(async ({ ctx, input: { id, teamId, scopes, permissions } }) => {
      const hold = { id, browserToken: ctx.browserClient.browserToken };
      return { redirectTo: await approve(ctx.services, ctx.principal, hold, { teamId, scopes, permissions }) };
    }),

  /** Answers the request of a first-party client, whose access lasts no longer than the session. */
  continue: sessionProcedure
    .meta({ effect: 'none' })
    .input(continueInput)
    .use(({ ctx, input, next }) => {
      if (input.accountId !== ctx.principal.accountId) throw new ProblemError('account_changed');
      return next();
    })
    .output(decisionOutput)
    .mutation(async ({ ctx, input: { id, teamId = null } }) => {
      const hold = { id, browserToken: ctx.browserClient.browserToken };
      return { redirectTo: await continueAs(ctx.services, ctx.principal, hold, teamId) };
    }),

  deny: sessionProcedure
    .meta({ effect: 'none' })
    .input(authorizationInput)
    .output(decisionOutput)
    .mutation(async ({ ctx, input: { id } }) => {
      const hold = { id, browserToken: ctx.browserClient.browserToken };
      return { redirectTo: await deny(ctx.services, ctx.principal, hold) };
    }),
});
