import { Option, type Command } from 'commander';
import { Account, ACCOUNT_ROLES } from '../entities/index.ts';
import { presentAccount, presentAccountState } from '../resources/accounts/accounts.schema.ts';
import { createAccount, disableAccount, enableAccount } from '../resources/accounts/accounts.service.ts';
import { accountOf, withServices, type Answer } from './operate.ts';
import { email, emailOption, option, required, textOf } from './options.ts';

type CreateOptions = {
  email: string;
  firstName?: string;
  lastName?: string;
  password?: string;
  role: (typeof ACCOUNT_ROLES)[number];
  verified?: true;
};

export function accountCommands(account: Command): void {
  account
    .command('create')
    .description('Make an account')
    .addOption(required(option('--email <address>', 'its address, unique whatever its case', email)))
    .addOption(option('--first-name <name>', 'first name', textOf(2, 255)))
    .addOption(option('--last-name <name>', 'last name', textOf(2, 255)))
    .option('--password <password>', '8 to 128 characters; without one the account cannot sign in with a password')
    .addOption(
      new Option('--role <role>', 'an admin operates this installation').choices(ACCOUNT_ROLES).default('user'),
    )
    .option('--verified', 'the address is known to be theirs')
    .action(
      withServices(async ({ db }, { verified, ...input }: CreateOptions) => {
        const created = await createAccount(db, { ...input, isEmailVerified: verified });
        return { json: presentAccount(created), text: line(created) };
      }),
    );

  account
    .command('list')
    .description('List all accounts, the oldest first')
    .action(
      withServices(async ({ db }) => {
        const accounts = await db.em().find(Account, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
        return {
          json: accounts.map(presentAccountState),
          text: accounts.map(line).join('\n') || 'There are no accounts.',
        };
      }),
    );

  account
    .command('disable')
    .description('Refuse the credentials of an account and end its sessions')
    .addOption(emailOption('the account'))
    .action(
      withServices(async (services, options: { email: string }) => {
        const { id } = await accountOf(services, options.email);
        return answer(await disableAccount(services.db, id));
      }),
    );

  account
    .command('enable')
    .description('Take the credentials of a disabled account again')
    .addOption(emailOption('the account'))
    .action(
      withServices(async (services, options: { email: string }) => {
        const { id } = await accountOf(services, options.email);
        return answer(await enableAccount(services.db, id));
      }),
    );
}

const answer = (account: Account): Answer => ({ json: presentAccountState(account), text: line(account) });

function line(account: Account): string {
  const name = [account.firstName, account.lastName].filter(Boolean).join(' ');
  const marks = [
    account.role,
    account.emailVerifiedAt ? 'verified' : 'unverified',
    ...(account.disabledAt ? ['disabled'] : []),
  ];
  return `${account.id}  ${account.email ?? '-'}  ${name === '' ? '' : `${name}  `}(${marks.join(', ')})`;
}
