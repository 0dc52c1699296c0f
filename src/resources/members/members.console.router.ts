import { z } from 'zod';
import type { Permission } from '../../entities/index.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { accountIdOf, memberId } from './member-id.ts';
import { router } from '../../procedures/trpc.ts';
import { asItems } from '../../procedures/lists.ts';
import { readMembersByDay } from './history.queries.ts';
import { listMembersWithTerms, previewRemoval, previewRemovals } from './members.queries.ts';
import {
  consoleMemberOutput,
  memberExpiry,
  memberWithTermsOutput,
  membersOfDayOutput,
  presentMember,
  removalPreviewOutput,
  removedMembers,
  withAccountId,
} from './members.schema.ts';
import { removeMemberWithInvitations } from './members.service.ts';
import { activateMember, deactivateMember, setMemberExpiry, setMemberRole } from './membership-changes.service.ts';

const scope = 'members:write' as const;
const permission: Permission = 'remove_members';

/** Procedures of the members page that REST does not have. */
export const membersConsoleRouter = router({
  list: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .output(z.array(memberWithTermsOutput))
    .query(({ ctx, input }) => asItems(listMembersWithTerms(ctx.services.db, input.teamId))),

  history: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .output(z.array(membersOfDayOutput))
    .query(({ ctx, input }) => readMembersByDay(ctx.services.db, input.teamId)),

  setRole: teamProcedure({ scope, permission: 'edit_team_settings', input: { ...memberId, roleId: resourceId } })
    .meta({ effect: 'widens if the role is privileged' })
    .output(consoleMemberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) =>
      withAccountId(presentMember(await setMemberRole(services.db, caller, accountIdOf(input), input.roleId))),
    ),

  activate: teamProcedure({ scope, permission, input: memberId })
    .meta({ effect: 'widens if the role is privileged' })
    .output(consoleMemberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) =>
      withAccountId(presentMember(await activateMember(services, caller, accountIdOf(input)))),
    ),

  deactivate: teamProcedure({ scope, permission, input: memberId })
    .meta({ effect: 'none' })
    .output(consoleMemberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) =>
      withAccountId(presentMember(await deactivateMember(services.db, caller, accountIdOf(input)))),
    ),

  setExpiry: teamProcedure({ scope, permission, input: { ...memberId, expiresAt: memberExpiry } })
    .meta({ effect: 'widens if it prolongs a membership whose role is privileged' })
    .output(consoleMemberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) => {
      const expiresAt = input.expiresAt === null ? null : new Date(input.expiresAt);
      const member = await setMemberExpiry(services, caller, accountIdOf(input), expiresAt);
      return withAccountId(presentMember(member));
    }),

  removeWithInvitations: teamProcedure({
    scope,
    permission,
    also: { scopes: ['invites:write'], permissions: ['invite_members'] },
    input: memberId,
  })
    .meta({ effect: 'none' })
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await removeMemberWithInvitations(ctx.services.db, ctx.caller, accountIdOf(input));
      return SUCCESS;
    }),

  removalPreview: teamProcedure({ scope, permission, input: memberId })
    .output(removalPreviewOutput)
    .query(({ ctx, input }) =>
      previewRemoval(ctx.services.db, input.teamId, accountIdOf(input), ctx.membership.permissions),
    ),

  removalPreviews: teamProcedure({ scope, permission, input: removedMembers })
    .output(removalPreviewOutput)
    .query(({ ctx, input }) =>
      previewRemovals(ctx.services.db, input.teamId, input.accountIds, ctx.membership.permissions),
    ),
});
