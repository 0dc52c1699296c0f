import type { Command } from 'commander';
import { deleteAccount } from '../resources/accounts/deletion.service.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { emailOption } from './options.ts';

export function accountDeleteCommand(account: Command): void {
  account
    .command('delete')
    .description('Delete an account with its credentials and the teams that have no other member')
    .addOption(emailOption('the account'))
    .action(
      withServices(async (services, { email }: { email: string }) => {
        const { id } = await requireAccountByEmail(services, email);
        await deleteAccount(services.db, 'system', id);
        return { json: { success: true }, lines: [`Account ${id} deleted.`] };
      }),
    );
}
