import { z } from 'zod';
import { teamProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { asItems } from '../../procedures/lists.ts';
import { listTeamMembers } from './members.queries.ts';
import { memberOutput } from './members.schema.ts';
import { removeMember } from './members.service.ts';

export const membersRouter = router({
  listTeamMembers: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .meta(
      endpoint('listTeamMembers', 'GET /api/v1/teams/{teamId}/members', {
        summary: 'List the members of a team',
        returns: 'All memberships of the team, also inactive and expired ones, in the order in which they joined.',
      }),
    )
    .output(z.array(memberOutput))
    .query(({ ctx, input }) => asItems(listTeamMembers(ctx.services.db, input.teamId))),

  removeTeamMember: teamProcedure({
    scope: 'members:write',
    permission: 'remove_members',
    input: { userId: resourceId },
  })
    .meta(
      endpoint('removeTeamMember', 'DELETE /api/v1/teams/{teamId}/members/{userId}', {
        summary: 'Remove a member from a team',
        description: "The owner cannot be removed. The member's credentials for the team stop working immediately.",
        returns: 'The member is removed.',
        effect: 'none',
        errors: ['owner_not_removable', 'member_not_found'],
      }),
    )
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await removeMember(ctx.services.db, ctx.caller, ctx.caller.teamId, input.userId);
      return SUCCESS;
    }),
});
