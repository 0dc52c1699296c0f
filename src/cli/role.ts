import type { Command } from 'commander';
import { PERMISSIONS, type Permission } from '../entities/index.ts';
import { createRole } from '../resources/roles/roles.service.ts';
import { withServices } from './operate.ts';
import { listOf, option, productPermissions, required, resourceName, teamOption } from './options.ts';

type CreateOptions = { team: string; name: string; permissions: Permission[]; productPermissions?: string[] };

export function roleCommands(role: Command): void {
  role
    .command('create')
    .description('Create a custom role of a team')
    .addOption(teamOption())
    .addOption(required(option('--name <name>', 'name of the role', resourceName)))
    .addOption(
      required(
        option(
          '--permissions <list>',
          `comma-separated, of ${PERMISSIONS.join(', ')}; can be empty`,
          listOf('permission', PERMISSIONS),
        ),
      ),
    )
    .addOption(
      option('--product-permissions <list>', 'permissions of your product, comma-separated', productPermissions),
    )
    .action(
      withServices(async ({ db }, { team, ...input }: CreateOptions) => {
        const { id, name, isSystemRole, permissions, ...role } = await createRole(db, 'system', team, input);
        return {
          json: { roleId: id, name, isSystemRole, permissions, productPermissions: role.productPermissions },
          lines: [[id, name, `(${[...permissions, ...role.productPermissions].join(', ') || 'no permissions'})`]],
        };
      }),
    );
}
