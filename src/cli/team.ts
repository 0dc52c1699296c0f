import type { Command } from 'commander';
import { setSubscription } from '../resources/billing/billing.service.ts';
import { presentTeam } from '../resources/teams/teams.schema.ts';
import { createTeam } from '../resources/teams/teams.service.ts';
import { change } from '../transactions/change.ts';
import { teamMetadataCommand } from './metadata.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { teamDeleteCommand } from './team-delete.ts';
import { teamListCommand } from './team-list.ts';
import { teamTransferCommand } from './team-transfer.ts';
import { externalIdOption, option, required, resourceName } from './options.ts';

type CreateOptions = { owner: string; name: string; externalId?: string; plan?: string };

export function teamCommands(team: Command): void {
  team
    .command('create')
    .description('Create a team with its owner (ignores TEAM_LIMIT)')
    .requiredOption('--owner <address>', 'email address of the owner, or ext: and the external id')
    .addOption(required(option('--name <name>', 'name of the team', resourceName)))
    .addOption(externalIdOption())
    .option('--plan <plan>', 'plan of the team (see `billing set` for the rest of the subscription)')
    .action(
      withServices(async (services, { owner, plan, ...input }: CreateOptions) => {
        const { id } = await requireAccountByEmail(services, owner, '--owner');
        const created = await change(
          services.db,
          'system',
          { on: 'installation', requires: 'nothing' },
          async (opened) => {
            const result = await createTeam(opened, { caller: 'system' }, id, input);
            if (plan !== undefined)
              await setSubscription(opened, 'system', services.config.plans, result.team.id, { planId: plan });
            return presentTeam(result);
          },
        );
        return { json: created, lines: [[created.id, created.name, `(${created.slug})`]] };
      }),
    );

  teamListCommand(team);
  teamTransferCommand(team);
  teamDeleteCommand(team);
  teamMetadataCommand(team);
}
