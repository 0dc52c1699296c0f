import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { decodeText } from '../config/text-file.ts';
import { ACCOUNT_ROLES, type Account } from '../entities/index.ts';
import { presentAccount, presentAccountState } from '../resources/accounts/accounts.schema.ts';
import { createAccount, disableAccount, enableAccount } from '../resources/accounts/accounts.service.ts';
import { accountDeleteCommand } from './account-delete.ts';
import { accountLine, accountListCommand } from './account-list.ts';
import { accountMetadataCommand } from './metadata.ts';
import { CommandError } from './failure.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { email, emailOption, externalIdOption, namePart, option, required } from './options.ts';
import type { Answer } from './output.ts';
import { terminalOf, type Terminal } from './terminal.ts';

type CreateOptions = {
  email: string;
  externalId?: string;
  firstName?: string;
  lastName?: string;
  password?: string;
  passwordStdin?: true;
  role: (typeof ACCOUNT_ROLES)[number];
  verified?: true;
};

export function accountCommands(account: Command): void {
  account
    .command('create')
    .description('Create an account')
    .addOption(required(option('--email <address>', 'email address', email)))
    .addOption(externalIdOption())
    .addOption(option('--first-name <name>', 'first name', namePart))
    .addOption(option('--last-name <name>', 'last name', namePart))
    .option('--password <password>', '8 to 128 characters, visible to other users of this machine')
    .addOption(new Option('--password-stdin', 'read the password from standard input').conflicts('password'))
    .addOption(
      new Option('--role <role>', 'account role: an admin is an operator of this instance')
        .choices(ACCOUNT_ROLES)
        .default('user'),
    )
    .option('--verified', 'mark the email address as verified')
    .action(
      withServices(async ({ db, config }, { verified, passwordStdin, ...input }: CreateOptions, command) => {
        const password = passwordStdin ? await readPassword(terminalOf(command).stdin) : input.password;
        const created = await createAccount(db, 'system', config, { ...input, password, isEmailVerified: verified });
        const lines = [
          accountLine(presentAccountState(created)),
          ...(input.role === 'admin' ? operatorHint(config.baseUrl, input) : []),
        ];
        return { json: presentAccount(created), lines };
      }),
    );

  accountListCommand(account);
  accountDeleteCommand(account);
  accountMetadataCommand(account);

  account
    .command('disable')
    .description('Deny the credentials of an account and revoke its sessions')
    .addOption(emailOption('the account'))
    .action(
      withServices(async (services, options: { email: string }) => {
        const { id } = await requireAccountByEmail(services, options.email);
        return answer(await disableAccount(services.db, 'system', id));
      }),
    );

  account
    .command('enable')
    .description('Enable a disabled account')
    .addOption(emailOption('the account'))
    .action(
      withServices(async (services, options: { email: string }) => {
        const { id } = await requireAccountByEmail(services, options.email);
        return answer(await enableAccount(services.db, 'system', id));
      }),
    );
}

/** Reads one line of UTF-8. @throws CommandError for another file, whose user could not sign in with what they wrote */
async function readPassword(stdin: Terminal['stdin']): Promise<string> {
  const bytes = await buffer(stdin);
  const text = isUtf8(bytes) ? decodeText(bytes).replace(/\r?\n$/, '') : '\0';
  // UTF-16 without a byte order mark is valid UTF-8 with NUL characters.
  if (text.includes('\0')) throw new CommandError('--password-stdin: not UTF-8 text: save the file as UTF-8');
  if (/[\r\n]/.test(text)) throw new CommandError('--password-stdin: more than one line: leave only the password');
  return text;
}

/** Says how an operator signs in. */
const operatorHint = (baseUrl: string, { email, password }: Pick<CreateOptions, 'email' | 'password'>): string[] => [
  `Sign in at ${baseUrl}/sign-in ${password === undefined ? `with a link to ${email}` : 'with the password'}, then open ${baseUrl}/operator.`,
];

const answer = (account: Account): Answer => {
  const json = presentAccountState(account);
  return { json, lines: [accountLine(json)] };
};
