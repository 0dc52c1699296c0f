import type { Command } from 'commander';
import { Account } from '../entities/index.ts';
import { presentAccountState } from '../resources/accounts/accounts.schema.ts';
import { eachRow } from '../resources/operator/listing.queries.ts';
import { withServices } from './operate.ts';
import { printList, type Line } from './output.ts';

const PAGE_ROWS = 500;

export function accountListCommand(account: Command): void {
  account
    .command('list')
    .description('List all accounts, oldest first')
    .action(
      withServices(({ db }, _options: object, command) =>
        printList(command, {
          rows: eachRow((after) =>
            db.em().find(Account, { id: { $gt: after } }, { orderBy: { id: 'asc' }, limit: PAGE_ROWS }),
          ),
          json: presentAccountState,
          line: accountLine,
          empty: 'There are no accounts.',
        }),
      ),
    );
}

export function accountLine(account: Account): Line {
  const name = [account.firstName, account.lastName].filter(Boolean).join(' ');
  const marks = [
    account.role,
    account.emailVerifiedAt ? 'verified' : 'unverified',
    ...(account.disabledAt ? ['disabled'] : []),
  ];
  return [account.id, account.email ?? '-', name || null, `(${marks.join(', ')})`];
}
