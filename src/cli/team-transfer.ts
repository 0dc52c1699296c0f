import type { Command } from 'commander';
import { transferOwnership } from '../resources/teams/ownership.service.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { emailOption, teamOption } from './options.ts';

export function teamTransferCommand(team: Command): void {
  team
    .command('transfer')
    .description('Transfer a team to a new owner, also if it has none (ignores TEAM_LIMIT)')
    .addOption(teamOption())
    .addOption(emailOption('the new owner, who does not need to be a member'))
    .action(
      withServices(async (services, { team: teamId, email }: { team: string; email: string }) => {
        const { id } = await requireAccountByEmail(services, email);
        await transferOwnership(services.db, 'system', teamId, id);
        return { json: { success: true }, lines: [`${email} owns team ${teamId}.`] };
      }),
    );
}
