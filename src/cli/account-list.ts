import type { Command } from 'commander';
import { listAllAccounts, type ListedAccount } from '../resources/operator/listing.queries.ts';
import { withServices } from './operate.ts';
import { printList, type Line } from './output.ts';

export function accountListCommand(account: Command): void {
  account
    .command('list')
    .description('List all accounts, oldest first')
    .action(
      withServices(({ db }, _options: object, command) =>
        printList(command, {
          rows: listAllAccounts(db),
          json: (row) => row,
          line: accountLine,
          empty: 'There are no accounts.',
        }),
      ),
    );
}

export function accountLine(account: ListedAccount): Line {
  const name = [account.firstName, account.lastName].filter(Boolean).join(' ');
  const marks = [
    account.role,
    account.emailVerified ? 'verified' : 'unverified',
    ...(account.disabled ? ['disabled'] : []),
  ];
  return [account.id, account.email ?? '-', name || null, `(${marks.join(', ')})`];
}
