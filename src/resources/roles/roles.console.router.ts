import { teamProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { createRoleInput, deleteRoleInput, presentRole, roleOutput, updateRoleInput } from './roles.schema.ts';
import { createRole, deleteRole, updateRole } from './roles.service.ts';

const access = { scope: 'teams:write', permission: 'edit_team_settings' } as const;

/** Procedures that create, change and delete roles, which REST does not have. */
export const rolesConsoleRouter = router({
  create: teamProcedure({ ...access, input: createRoleInput })
    .output(roleOutput)
    .mutation(async ({ ctx: { services, membership, caller }, input: { teamId, ...fields } }) =>
      presentRole(await createRole(services.db, teamId, fields, caller), membership.permissions),
    ),

  update: teamProcedure({ ...access, input: updateRoleInput })
    .output(roleOutput)
    .mutation(async ({ ctx: { services, membership, caller }, input: { roleId, ...change } }) =>
      presentRole(await updateRole(services.db, caller, roleId, change), membership.permissions),
    ),

  delete: teamProcedure({ ...access, input: deleteRoleInput })
    .output(success)
    .mutation(async ({ ctx: { services, caller }, input }) => {
      await deleteRole(services.db, caller, input.roleId, input.replacementRoleId);
      return SUCCESS;
    }),
});
