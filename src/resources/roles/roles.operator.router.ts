import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { createRole, deleteRole, updateRole } from './roles.service.ts';
import { changeAs } from '../operator/change.ts';
import { toTeamId } from '../operator/references.ts';
import { listRoles, readRole } from '../operator/role-list.queries.ts';
import {
  createRoleInput,
  deleteRoleInput,
  roleInput,
  roleOutput,
  rolesOutput,
  updateRoleInput,
} from './roles.operator.schema.ts';
import { teamInput } from '../operator/operator-api.schema.ts';
import { readTeam } from '../operator/team-list.queries.ts';
import { recordView } from '../operator/views.ts';

const fields = {
  name: 'Administrator',
  permissions: ['edit_team_settings', 'access_dashboard', 'invite_members'],
  productPermissions: ['invoices:write'],
};
const role = { id: 'role_0cn7s5l4a9nkf9u7h2q0bf5m7e', ...fields, isSystemRole: false, version: 2 };
const system = {
  id: 'member',
  name: 'Member',
  permissions: ['access_dashboard'],
  productPermissions: ['invoices:read'],
  isSystemRole: true,
  version: 0,
};

const ROLES = '/operator/v1/teams/{teamId}/roles' as const;
const ROLE = `${ROLES}/{roleId}` as const;

/** The roles of teams, for the operator's backend. */
export const createOperatorRolesRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listRoles: operatorProcedure('teams:read')
      .meta(
        endpoint('listRoles', `GET ${ROLES}`, {
          summary: 'List the roles of a team',
          returns: 'The system roles, then those of the team by name.',
          errors: ['team_not_found'],
          example: { answer: { roles: [system, role] } },
        }),
      )
      .input(teamInput)
      .output(rolesOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const { id } = await readTeam(db, await toTeamId(db, input.teamId));
        const roles = await listRoles(db, id);
        await recordView(ctx, { teamId: id });
        return { roles };
      }),

    getRole: operatorProcedure('teams:read')
      .meta(
        endpoint('getRole', `GET ${ROLE}`, {
          summary: 'Read a role of a team',
          returns: 'The role.',
          errors: ['team_not_found', 'role_not_found'],
          example: { answer: role },
          isVersioned: true,
        }),
      )
      .input(roleInput)
      .output(roleOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const { id } = await readTeam(db, await toTeamId(db, input.teamId));
        const found = await readRole(db, id, input.roleId);
        await recordView(ctx, { teamId: id });
        return found;
      }),

    createRole: operatorProcedure('teams:write')
      .meta(
        endpoint('createRole', `POST ${ROLES}`, {
          summary: 'Create a role of a team',
          description:
            'With any permissions: those of the owner do not limit it. The owner is told of a privileged role by email.',
          returns: 'The role.',
          effect: 'widens',
          status: 201,
          errors: ['team_not_found'],
          example: { body: fields, answer: { ...role, version: 0 } },
        }),
      )
      .input(createRoleInput)
      .output(roleOutput)
      .mutation(({ ctx, input: { teamId, ...given } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toTeamId(db, teamId);
          return readRole(db, id, (await createRole(db, caller, id, given)).id);
        }),
      ),

    updateRole: operatorProcedure('teams:write')
      .meta(
        endpoint('updateRole', `PATCH ${ROLE}`, {
          summary: 'Change a role of a team',
          description:
            'Members that are left out keep their value; `permissions` replaces the list. It applies to the next request of each member. System roles cannot be changed.',
          returns: 'The role with its new version.',
          effect: 'widens',
          errors: ['team_not_found', 'role_not_found', 'version_mismatch'],
          example: { body: { permissions: fields.permissions }, answer: role },
          isVersioned: true,
        }),
      )
      .input(updateRoleInput)
      .output(roleOutput)
      .mutation(({ ctx, input: { teamId, roleId, version, ...change } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toTeamId(db, teamId);
          await updateRole(db, caller, id, roleId, change, version);
          return readRole(db, id, roleId);
        }),
      ),

    deleteRole: operatorProcedure('teams:write')
      .meta(
        endpoint('deleteRole', `DELETE ${ROLE}`, {
          summary: 'Delete a role of a team',
          description: 'Its members and invitations get the replacement. System roles cannot be deleted.',
          returns: 'The role is deleted.',
          effect: 'widens',
          errors: ['team_not_found', 'role_not_found', 'role_not_assignable'],
          example: { answer: { success: true } },
        }),
      )
      .input(deleteRoleInput)
      .output(success)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          await deleteRole(db, caller, await toTeamId(db, input.teamId), input.roleId, input.replacementRoleId);
          return SUCCESS;
        }),
      ),
  });
