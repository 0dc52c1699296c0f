import { ProblemError } from '../../problems/error.ts';
import { requirePermission } from '../../auth/permissions.ts';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { cursorsOf } from '../../procedures/cursors.ts';
import { router } from '../../procedures/trpc.ts';
import { listTeamEvents } from './audit-log.queries.ts';
import { auditPageOutput, listAuditInput } from './audit-log.schema.ts';

/** The audit log of a team. Only for sessions, because events contain IP addresses. */
export const auditConsoleRouter = router({
  list: sessionProcedure
    .input(listAuditInput)
    .output(auditPageOutput)
    .query(async ({ ctx, input }) => {
      const membership = await ctx.findMembership(input.teamId);
      if (membership === null) throw new ProblemError('team_not_found');
      requirePermission(membership.permissions, 'edit_team_settings');
      return listTeamEvents(ctx.services.db, cursorsOf(ctx), input);
    }),
});
