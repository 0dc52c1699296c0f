import { z } from 'zod';
import { requirePermission } from '../../auth/permissions.ts';
import { ProblemError } from '../../problems/error.ts';
import { resourceId } from '../../procedures/fields.ts';
import { accountProcedure, operatorProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { feedInput, feedOutput, teamFeedInput } from './events.schema.ts';
import { requireLiveReader } from './live-reader.ts';
import { readOrWait } from './read-or-wait.ts';

const permission = 'edit_team_settings';

/** The events of a team, of oneself and of the instance, in one order. */
export const eventsRouter = router({
  list: teamProcedure({ scope: 'teams:read', permission, input: teamFeedInput })
    .output(feedOutput)
    .query(({ ctx, input: { teamId, ...input }, signal }) =>
      readOrWait(ctx.services, {
        ...input,
        caller: ctx.principal.credentialId,
        signal,
        requireLive: () => requireLiveReader(ctx.services.db, ctx.principal),
        findReader: async () => {
          const membership = await ctx.findMembership(teamId);
          if (membership === null) throw new ProblemError('team_not_found');
          requirePermission(membership.permissions, permission);
          return { kind: 'team', teamId, permissions: membership.permissions, scopes: ctx.principal.scopes };
        },
      }),
    ),
  listMine: accountProcedure('profile:read')
    .input(z.object(feedInput))
    .output(feedOutput)
    .query(({ ctx, input, signal }) => {
      const { accountId, credentialId, scopes } = ctx.principal;
      const findReader = () => ({ kind: 'account', accountId, scopes }) as const;
      const requireLive = () => requireLiveReader(ctx.services.db, ctx.principal);
      return readOrWait(ctx.services, { ...input, caller: credentialId, signal, findReader, requireLive });
    }),
  listAll: operatorProcedure
    .input(z.object({ ...feedInput, teamId: resourceId.optional(), accountId: resourceId.optional() }))
    .output(feedOutput)
    .query(({ ctx, input: { teamId, accountId, ...input }, signal }) =>
      readOrWait(ctx.services, {
        ...input,
        caller: ctx.principal.credentialId,
        signal,
        requireLive: () => requireLiveReader(ctx.services.db, ctx.principal, 'operator'),
        findReader: () => ({ kind: 'operator', teamId, accountId }),
      }),
    ),
});
