import { z } from 'zod';
import type { Permission } from '../../entities/index.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { resourceId } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { present } from '../../procedures/run.ts';
import { readMembersByDay } from './history.queries.ts';
import { listMembersWithTerms, previewRemoval } from './members.queries.ts';
import {
  memberExpiry,
  memberOutput,
  memberWithTermsOutput,
  membersOfDayOutput,
  presentMember,
  removalPreviewOutput,
} from './members.schema.ts';
import { activateMember, deactivateMember, setMemberExpiry, setMemberRole } from './membership-changes.service.ts';

const scope = 'members:write' as const;
const permission: Permission = 'remove_members';
const userId = resourceId;

/** Procedures of the members page that REST does not have. */
export const membersConsoleRouter = router({
  list: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .output(z.array(memberWithTermsOutput))
    .query(({ ctx, input }) => present(listMembersWithTerms(ctx.services.db, input.teamId))),

  history: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .output(z.array(membersOfDayOutput))
    .query(({ ctx, input }) => readMembersByDay(ctx.services.db, input.teamId)),

  setRole: teamProcedure({ scope, permission: 'edit_team_settings', input: { userId, roleId: resourceId } })
    .output(memberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) =>
      presentMember(await setMemberRole(services, { caller, userId: input.userId }, input.roleId)),
    ),

  activate: teamProcedure({ scope, permission, input: { userId } })
    .output(memberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) =>
      presentMember(await activateMember(services, { caller, userId: input.userId })),
    ),

  deactivate: teamProcedure({ scope, permission, input: { userId } })
    .output(memberOutput)
    .mutation(async ({ ctx: { services, caller }, input }) =>
      presentMember(await deactivateMember(services, { caller, userId: input.userId })),
    ),

  setExpiry: teamProcedure({ scope, permission, input: { userId, expiresAt: memberExpiry } })
    .output(memberOutput)
    .mutation(async ({ ctx: { services, caller }, input: { userId: of, expiresAt } }) =>
      presentMember(
        await setMemberExpiry(services, { caller, userId: of }, expiresAt === null ? null : new Date(expiresAt)),
      ),
    ),

  removalPreview: teamProcedure({ scope, permission, input: { userId } })
    .output(removalPreviewOutput)
    .query(({ ctx, input }) => previewRemoval(ctx.services.db, input.teamId, input.userId)),
});
