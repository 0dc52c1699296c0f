import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { createRoleTemplate, deleteRoleTemplate, updateRoleTemplate } from './role-templates.service.ts';
import { changeAs } from '../operator/change.ts';
import { listRoleTemplates, readRoleTemplate } from './role-templates.queries.ts';
import {
  createRoleTemplateInput,
  roleTemplateInput,
  roleTemplateOutput,
  roleTemplatesOutput,
  updateRoleTemplateInput,
} from './roles.operator.schema.ts';

const fields = {
  name: 'Administrator',
  permissions: ['edit_team_settings', 'access_dashboard', 'invite_members'],
  productPermissions: ['invoices:write'],
};
const template = { id: 'rtpl_0cn7s5l4a9nkf9u7h2q0bf5m7e', ...fields, version: 2 };

const TEMPLATES = '/operator/v1/role-templates' as const;
const TEMPLATE = `${TEMPLATES}/{templateId}` as const;

/** The roles that each new team gets. */
export const createOperatorRoleTemplatesRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listRoleTemplates: operatorProcedure('teams:read')
      .meta(
        endpoint('listRoleTemplates', `GET ${TEMPLATES}`, {
          summary: 'List the role templates',
          returns: 'The roles that each new team gets, by name.',
          example: { answer: { roleTemplates: [template] } },
        }),
      )
      .output(roleTemplatesOutput)
      .query(async ({ ctx }) => ({ roleTemplates: await listRoleTemplates(ctx.services.db) })),

    getRoleTemplate: operatorProcedure('teams:read')
      .meta(
        endpoint('getRoleTemplate', `GET ${TEMPLATE}`, {
          summary: 'Read a role template',
          returns: 'The template.',
          errors: ['role_not_found'],
          example: { answer: template },
          isVersioned: true,
        }),
      )
      .input(roleTemplateInput)
      .output(roleTemplateOutput)
      .query(({ ctx, input }) => readRoleTemplate(ctx.services.db, input.templateId)),

    createRoleTemplate: operatorProcedure('teams:write')
      .meta(
        endpoint('createRoleTemplate', `POST ${TEMPLATES}`, {
          summary: 'Create a role template',
          description:
            'Teams that are created or imported from then on get a role with its name and permissions, which they can change and delete. Existing teams stay as they are. There can be 50.',
          returns: 'The template.',
          effect: 'widens if its permissions are privileged',
          status: 201,
          example: { body: fields, answer: { ...template, version: 0 } },
        }),
      )
      .input(createRoleTemplateInput)
      .output(roleTemplateOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => readRoleTemplate(db, (await createRoleTemplate(db, caller, input)).id)),
      ),

    updateRoleTemplate: operatorProcedure('teams:write')
      .meta(
        endpoint('updateRoleTemplate', `PATCH ${TEMPLATE}`, {
          summary: 'Change a role template',
          description:
            'For teams that are created from then on; the roles of existing teams stay as they are. Members that are left out keep their value.',
          returns: 'The template with its new version.',
          effect: 'widens if it adds privileged permissions',
          errors: ['role_not_found', 'version_mismatch'],
          example: { body: { permissions: fields.permissions }, answer: template },
          isVersioned: true,
        }),
      )
      .input(updateRoleTemplateInput)
      .output(roleTemplateOutput)
      .mutation(({ ctx, input: { templateId, version, ...change } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          await updateRoleTemplate(db, caller, templateId, change, version);
          return readRoleTemplate(db, templateId);
        }),
      ),

    deleteRoleTemplate: operatorProcedure('teams:write')
      .meta(
        endpoint('deleteRoleTemplate', `DELETE ${TEMPLATE}`, {
          summary: 'Delete a role template',
          description: 'The roles of existing teams stay.',
          returns: 'The template is deleted.',
          effect: 'none',
          errors: ['role_not_found'],
          example: { answer: { success: true } },
        }),
      )
      .input(roleTemplateInput)
      .output(success)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          await deleteRoleTemplate(db, caller, input.templateId);
          return SUCCESS;
        }),
      ),
  });
