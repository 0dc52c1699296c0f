import { teamProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { createRoleInput, deleteRoleInput, presentRole, roleOutput, updateRoleInput } from './roles.schema.ts';
import { createRole, deleteRole, updateRole } from './roles.service.ts';

const access = { scope: 'teams:write', permission: 'edit_team_settings' } as const;

/** Making, changing and deleting the roles of a team. Over tRPC only. */
export const rolesConsoleRouter = router({
  create: teamProcedure({ ...access, input: createRoleInput })
    .output(roleOutput)
    .mutation(async ({ ctx: { services, membership }, input: { teamId, ...fields } }) =>
      presentRole(await createRole(services.db.em(), teamId, fields, membership), membership.permissions),
    ),

  update: teamProcedure({ ...access, input: updateRoleInput })
    .output(roleOutput)
    .mutation(async ({ ctx: { services, membership }, input: { roleId, ...change } }) =>
      presentRole(await updateRole(services.db.em(), membership, roleId, change), membership.permissions),
    ),

  delete: teamProcedure({ ...access, input: deleteRoleInput })
    .output(success)
    .mutation(async ({ ctx: { services, membership }, input }) => {
      await deleteRole(services.db.em(), membership, input.roleId, input.replacementRoleId);
      return SUCCESS;
    }),
});
