import type { Command } from 'commander';
import { listAllKeys } from '../resources/operator/listing.queries.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { printList } from './output.ts';

type ListOptions = { email?: string; team?: string };

export function keyListCommand(key: Command): void {
  key
    .command('list')
    .description('List API keys that are not revoked, oldest first')
    .option('--email <address>', 'only keys of this account; email address, or ext: and its external id')
    .option('--team <id>', 'only keys for this team; its id, or ext: and its external id')
    .action(
      withServices(async (services, { email, team: teamId }: ListOptions, command) => {
        const accountId = email === undefined ? undefined : (await requireAccountByEmail(services, email)).id;
        return printList(command, {
          rows: listAllKeys(services.db, { accountId, teamId }),
          json: (row) => row,
          line: (row) => [
            row.id,
            row.name,
            `${row.keyPrefix}…${row.last4}`,
            `(${row.email ?? row.accountId}, ${row.teamId ?? 'personal'})`,
          ],
          empty: 'There are no API keys.',
        });
      }),
    );
}
