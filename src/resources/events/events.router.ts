import { z } from 'zod';
import { requirePermission } from '../../auth/permissions.ts';
import { ProblemError } from '../../errors.ts';
import { readFeed, type FeedPage, type FeedReader } from '../../events/feed/read.ts';
import { resourceId } from '../../procedures/fields.ts';
import { accountProcedure, operatorProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import type { Services } from '../../app-services.ts';
import type { EventName } from '../../events/catalogue.ts';
import { feedInput, feedOutput } from './events.schema.ts';
import { waitForEvents } from './wait.ts';

const permission = 'edit_team_settings';

type Input = {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly types?: EventName[] | undefined;
  readonly wait: number;
};

/** @param findReader is called for each look, so that a wait ends with the rights of its caller */
const read = (
  { db, encryption }: Services,
  { wait, ...options }: Input,
  caller: string,
  signal: AbortSignal | undefined,
  findReader: () => Promise<FeedReader> | FeedReader,
): Promise<FeedPage> =>
  waitForEvents({
    db,
    caller,
    seconds: wait,
    signal,
    read: async () => readFeed(db, encryption, await findReader(), options),
    isEmpty: ({ events, hasMore }) => events.length === 0 && !hasMore,
  });

/** The events of a team, of oneself and of the instance, in one order. */
export const eventsRouter = router({
  list: teamProcedure({ scope: 'teams:read', permission, input: feedInput })
    .output(feedOutput)
    .query(({ ctx, input: { teamId, ...input }, signal }) =>
      read(ctx.services, input, ctx.principal.credentialId, signal, async () => {
        const membership = await ctx.findMembership(teamId);
        if (membership === null) throw new ProblemError('team_not_found');
        requirePermission(membership.permissions, permission);
        return { kind: 'team', teamId, permissions: membership.permissions, scopes: ctx.principal.scopes };
      }),
    ),
  listMine: accountProcedure('profile:read')
    .input(z.object(feedInput))
    .output(feedOutput)
    .query(({ ctx, input, signal }) => {
      const { accountId, credentialId, scopes } = ctx.principal;
      return read(ctx.services, input, credentialId, signal, () => ({ kind: 'account', accountId, scopes }));
    }),
  listAll: operatorProcedure
    .input(z.object({ ...feedInput, teamId: resourceId.optional(), accountId: resourceId.optional() }))
    .output(feedOutput)
    .query(({ ctx, input: { teamId, accountId, ...input }, signal }) =>
      read(ctx.services, input, ctx.principal.credentialId, signal, () => ({ kind: 'operator', teamId, accountId })),
    ),
});
