import { z } from 'zod';
import { accountProcedure, profileProcedure } from '../../procedures/procedures.ts';
import { toReadableNames } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { getMe, presentSignUp } from './me.queries.ts';
import { updateMe } from './me.service.ts';
import { accountOutput, updateMeBody } from './me.schema.ts';

export const meRouter = router({
  getMe: profileProcedure
    .meta(
      endpoint('getMe', 'GET /api/v1/me', {
        summary: 'Read the account profile',
        returns: 'The account behind the credential.',
      }),
    )
    .output(accountOutput)
    .query(({ ctx: { services, account } }) =>
      'email' in account ? presentSignUp(account) : getMe(services.db, account.accountId),
    ),

  updateMe: accountProcedure('profile:write')
    .meta(
      endpoint('updateMe', 'PATCH /api/v1/me', {
        summary: 'Update the account profile',
        returns: 'The account after the update.',
        effect: 'none',
      }),
    )
    .input(z.object(updateMeBody))
    .output(accountOutput)
    .mutation(({ ctx, input }) => updateMe(ctx.services.db, ctx.principal, toReadableNames(ctx, input))),
});
