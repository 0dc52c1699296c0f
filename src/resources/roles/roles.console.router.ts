import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { createRoleInput, deleteRoleInput, fullRoleOutput, presentRole, updateRoleInput } from './roles.schema.ts';
import { listFullRoles } from './roles.queries.ts';
import { createRole, deleteRole, updateRole } from './roles.service.ts';

const access = { scope: 'teams:write', permission: 'edit_team_settings' } as const;

/** Procedures that create, change and delete roles, which REST does not have. */
export const rolesConsoleRouter = router({
  /** Lists the roles like `listTeamRoles`, with what they hold of the product. */
  list: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .output(z.array(fullRoleOutput))
    .query(({ ctx }) => asItems(listFullRoles(ctx.services.db, ctx.membership))),

  create: teamProcedure({ ...access, input: createRoleInput })
    .meta({ effect: 'widens if the role is privileged' })
    .output(fullRoleOutput)
    .mutation(async ({ ctx: { services, membership, caller }, input: { teamId, ...fields } }) =>
      presentRole(await createRole(services.db, caller, teamId, fields), membership),
    ),

  update: teamProcedure({ ...access, input: updateRoleInput })
    .meta({ effect: 'widens if it adds permissions that make a role privileged' })
    .output(fullRoleOutput)
    .mutation(async ({ ctx: { services, membership, caller }, input: { roleId, ...change } }) =>
      presentRole(await updateRole(services.db, caller, caller.teamId, roleId, change), membership),
    ),

  delete: teamProcedure({ ...access, input: deleteRoleInput })
    .meta({ effect: 'widens if the replacement is privileged' })
    .output(success)
    .mutation(async ({ ctx: { services, caller }, input }) => {
      await deleteRole(services.db, caller, caller.teamId, input.roleId, input.replacementRoleId);
      return SUCCESS;
    }),
});
