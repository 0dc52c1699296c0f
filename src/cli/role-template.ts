import type { Command } from 'commander';
import { PERMISSIONS, type Permission } from '../entities/index.ts';
import {
  createRoleTemplate,
  deleteRoleTemplate,
  updateRoleTemplate,
} from '../resources/roles/role-templates.service.ts';
import { listRoleTemplates, readRoleTemplate } from '../resources/roles/role-templates.queries.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';
import { listOf, option, productPermissions, required, resourceName, textOf } from './options.ts';
import type { Answer, Line } from './output.ts';

type Fields = { name: string; permissions: Permission[]; productPermissions?: string[] };

const nameOption = () => option('--name <name>', 'name of the role', resourceName);
const permissionsOption = () =>
  option(
    '--permissions <list>',
    `comma-separated, of ${PERMISSIONS.join(', ')}; can be empty`,
    listOf('permission', PERMISSIONS),
  );
const productOption = () =>
  option('--product-permissions <list>', 'permissions of your product, comma-separated', productPermissions);
const templateOption = () => required(option('--template <id>', 'the role template', textOf(1, 255)));

export function roleTemplateCommands(template: Command): void {
  template
    .command('list')
    .description('List the roles that each new team gets')
    .action(
      withServices(async ({ db }) => {
        const found = await listRoleTemplates(db);
        return { json: found, lines: found.length > 0 ? found.map(toLine) : ['There are no role templates.'] };
      }),
    );

  template
    .command('create')
    .description('Create a role that each new team gets')
    .addOption(required(nameOption()))
    .addOption(required(permissionsOption()))
    .addOption(productOption())
    .action(
      withServices(async ({ db }, fields: Fields) => {
        const { id } = await createRoleTemplate(db, 'system', fields);
        return answer(await readRoleTemplate(db, id));
      }),
    );

  template
    .command('set')
    .description('Change a role template, for teams that are created from then on')
    .addOption(templateOption())
    .addOption(nameOption())
    .addOption(permissionsOption())
    .addOption(productOption())
    .action(
      withServices(async ({ db }, { template: id, ...change }: Partial<Fields> & { template: string }) => {
        if (Object.keys(change).length === 0)
          throw new CommandError('name a change: --name, --permissions or --product-permissions');
        await updateRoleTemplate(db, 'system', id, change);
        return answer(await readRoleTemplate(db, id));
      }),
    );

  template
    .command('delete')
    .description('Delete a role template; the roles of existing teams stay')
    .addOption(templateOption())
    .action(
      withServices(async ({ db }, { template: id }: { template: string }) => {
        await deleteRoleTemplate(db, 'system', id);
        return { json: { id }, lines: [`${id} deleted`] };
      }),
    );
}

type Shown = Awaited<ReturnType<typeof readRoleTemplate>>;

const toLine = ({ id, name, permissions, productPermissions: product }: Shown): Line => [
  id,
  name,
  `(${[...permissions, ...product].join(', ') || 'no permissions'})`,
];

const answer = (found: Shown): Answer => ({ json: found, lines: [toLine(found)] });
