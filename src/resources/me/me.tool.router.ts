import { z } from 'zod';
import { toReadableNames } from '../../procedures/fields.ts';
import { plannedChange, toDisplayName } from '../../procedures/planned-change.ts';
import { accountProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { getMe } from './me.queries.ts';
import { updateMeBody } from './me.schema.ts';

/** Describes changes of the own account before they are made, with the access and the input of the operation. */
export const meToolRouter = router({
  updateMe: accountProcedure('profile:write')
    .input(z.object(updateMeBody))
    .output(plannedChange)
    .query(async ({ ctx, input }) => {
      const after = toReadableNames(ctx, input);
      const { services, principal } = ctx;
      const account = await getMe(services.db, principal.accountId);
      return {
        kind: 'account' as const,
        id: account.id,
        name: toDisplayName(account),
        team: null,
        before: { firstName: account.firstName, lastName: account.lastName },
        after,
        effects: ['The members of all teams of the account see the new name.'],
      };
    }),
});
