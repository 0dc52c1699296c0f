import type { Command } from 'commander';
import { deleteTeam } from '../resources/teams/leave-and-delete.service.ts';
import { withServices } from './operate.ts';
import { teamOption } from './options.ts';

export function teamDeleteCommand(team: Command): void {
  team
    .command('delete')
    .description('Delete a team with its members, roles, invitations and API keys')
    .addOption(teamOption())
    .action(
      withServices(async ({ db }, { team: teamId }: { team: string }) => {
        await deleteTeam(db, 'system', teamId);
        return { json: { success: true }, lines: [`Team ${teamId} deleted.`] };
      }),
    );
}
