import { teamProcedure } from '../../procedures/procedures.ts';
import { cursorsOf } from '../../procedures/cursors.ts';
import { router } from '../../procedures/trpc.ts';
import { listTeamEvents } from './audit-log.queries.ts';
import { auditToolInput, auditToolOutput, withoutNamesAndAddress } from './audit-log.tool.schema.ts';

const permission = 'edit_team_settings';

/**
 * The audit log of a team for keys and access tokens, as a tool. Without names and IP addresses, because those of
 * members, invitations and keys need scopes of their own, and addresses a session.
 */
export const auditToolRouter = router({
  list: teamProcedure({ scope: 'teams:read', permission, input: auditToolInput })
    .output(auditToolOutput)
    .query(async ({ ctx, input }) => {
      const { events, nextCursor } = await listTeamEvents(ctx.services.db, cursorsOf(ctx), input);
      return { events: events.map(withoutNamesAndAddress), nextCursor };
    }),
});
