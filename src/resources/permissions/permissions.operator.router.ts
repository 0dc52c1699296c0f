import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { readCatalogue } from './catalogue.queries.ts';
import { applyCatalogue } from './catalogue.service.ts';
import { applyCatalogueInput, catalogueChangeOutput, catalogueOutput } from './permissions.schema.ts';

const write = {
  name: 'invoices:write',
  title: { en: 'Write invoices', de: 'Rechnungen schreiben' },
  description: null,
  group: { en: 'Invoices', de: 'Rechnungen' },
  sensitive: false,
  roles: ['member'],
  keys: true,
  deprecated: false,
};
const counts = { roles: 3, templates: 1, keys: 2, clients: 0, grants: 0 };

/** 500 permissions with a title, a description and a group in seven languages have half of it. */
const CATALOGUE_BYTES_MAX = 1024 * 1024;

const PATH = '/operator/v1/permissions' as const;

/** The permissions of the operator's product. */
export const createOperatorPermissionsRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    getPermissions: operatorProcedure('teams:read')
      .meta(
        endpoint('getPermissions', `GET ${PATH}`, {
          summary: 'Read the permissions of your product',
          returns: 'The catalogue with its version.',
          example: { answer: { version: 4, permissions: [write] } },
          isVersioned: true,
        }),
      )
      .output(catalogueOutput)
      .query(({ ctx }) => readCatalogue(ctx.services.db)),

    applyPermissions: operatorProcedure('teams:write')
      .meta(
        endpoint('applyPermissions', `PUT ${PATH}`, {
          summary: 'Declare the permissions of your product',
          description:
            'Replaces the catalogue. The answer says what changes for how many; with `dryRun` that is all that happens. A permission that is held and no longer declared needs a decision in `removals`. Roles of teams, API keys, OAuth clients and their grants follow in the same transaction.',
          returns: 'What was changed, or would be.',
          effect: 'widens if it is no dry run',
          errors: ['permission_held', 'version_mismatch'],
          example: {
            body: { permissions: [write], removals: { 'invoices:edit': { replaceWith: 'invoices:write' } } },
            answer: {
              version: 4,
              isApplied: true,
              added: ['invoices:write'],
              changed: [],
              removed: [{ name: 'invoices:edit', ...counts, removal: 'replace', replaceWith: 'invoices:write' }],
            },
          },
          isVersioned: true,
          maxBodyBytes: CATALOGUE_BYTES_MAX,
        }),
      )
      .input(applyCatalogueInput)
      .output(catalogueChangeOutput)
      .mutation(({ ctx, input: { dryRun, version, ...catalogue } }) =>
        applyCatalogue(ctx.services.db, { operator: ctx.operator }, catalogue, { dryRun, version }),
      ),
  });
