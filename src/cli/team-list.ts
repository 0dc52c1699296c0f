import type { Command } from 'commander';
import { listAllTeams } from '../resources/operator/listing.queries.ts';
import { withServices } from './operate.ts';
import { printList } from './output.ts';

export function teamListCommand(team: Command): void {
  team
    .command('list')
    .description('List all teams with their owners, oldest first')
    .action(
      withServices(({ db }, _options: object, command) =>
        printList(command, {
          rows: listAllTeams(db),
          json: (row) => row,
          line: ({ id, name, slug, ownerEmail, members, planId }) => [
            id,
            name,
            `(${slug}, ${ownerEmail ?? 'no owner'}, ${members} members, ${planId})`,
          ],
          empty: 'There are no teams.',
        }),
      ),
    );
}
