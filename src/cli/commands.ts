import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { failureLine } from './failure.ts';
import { useTerminal, type Terminal } from './terminal.ts';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

type Fill = (command: Command) => void;

// Load only the group that is called: imports take a large part of the time of a short command.
export const GROUPS: Readonly<Record<string, readonly [description: string, load: () => Promise<Fill>]>> = {
  account: [
    'Create, list, disable, enable and delete accounts',
    async () => (await import('./account.ts')).accountCommands,
  ],
  team: ['Create, list, transfer and delete teams', async () => (await import('./team.ts')).teamCommands],
  member: ['Add members to teams and change them', async () => (await import('./member.ts')).memberCommands],
  role: ['Create custom roles of teams', async () => (await import('./role.ts')).roleCommands],
  permissions: [
    'List, apply and print the permissions of your product',
    async () => (await import('./permissions.ts')).permissionsCommands,
  ],
  'role-template': [
    'Manage the roles that each new team gets',
    async () => (await import('./role-template.ts')).roleTemplateCommands,
  ],
  key: ['Create, list and revoke API keys', async () => (await import('./key.ts')).keyCommands],
  'operator-key': [
    'Create, list, rotate and revoke keys of the operator API',
    async () => (await import('./operator-key.ts')).operatorKeyCommands,
  ],
  'oauth-client': [
    'Create, list and delete OAuth clients',
    async () => (await import('./oauth-client.ts')).oauthClientCommands,
  ],
  billing: ['Set subscriptions of teams', async () => (await import('./billing.ts')).billingCommands],
  queue: ['List, retry and delete waiting emails', async () => (await import('./queue.ts')).queueCommands],
  webhook: ['Manage webhook endpoints of the installation', async () => (await import('./webhook.ts')).webhookCommands],
  audit: ['Verify and export the audit log', async () => (await import('./audit.ts')).auditCommands],
  oidc: ['Rotate the keys that sign id tokens', async () => (await import('./oidc.ts')).oidcCommands],
  secrets: ['Encrypt secrets with a new key', async () => (await import('./secrets.ts')).secretsCommands],
  import: [
    'Import accounts, teams, memberships and API keys of another system',
    async () => (await import('./import.ts')).importCommand,
  ],
  migrate: ['Migrate the database', async () => (await import('./migrate.ts')).migrateCommand],
  backup: ['Back up the database to a file', async () => (await import('./backup.ts')).backupCommand],
  restore: ['Restore a backup into an empty database', async () => (await import('./restore.ts')).restoreCommand],
  seed: ['Fill the database with demo data', async () => (await import('./seed.ts')).seedCommand],
  doctor: [
    'Check the configuration, the database and other dependencies',
    async () => (await import('./doctor.ts')).doctorCommand,
  ],
};

/** Creates the command with all groups. Errors are thrown, never printed. */
export function createRoster(terminal: Terminal = process): Command {
  const roster = new Command('roster')
    .description(
      'Commands for the operator. They use the configuration of the service and can run while the service runs.',
    )
    .version(version, '--version', 'print the version')
    .option('--json', 'print only one JSON document')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError(false)
    // All errors are printed below, as one line each.
    .configureOutput({ writeOut: (text) => void terminal.stdout.write(text), writeErr: () => undefined })
    .exitOverride();

  for (const [name, [description]] of Object.entries(GROUPS)) roster.command(name).description(description);
  roster.hook('preSubcommand', async (_, command) => (await GROUPS[command.name()]?.[1]())?.(command));
  useTerminal(roster, terminal);
  return roster;
}

/** Runs the command. A failure is one line on standard error. @returns the exit code */
export async function runRoster(args: readonly string[], terminal: Terminal = process): Promise<0 | 1> {
  try {
    await createRoster(terminal).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // help or the version
    terminal.stderr.write(`roster: ${await failureLine(error, terminal.env)}\n`);
    return 1;
  }
}
