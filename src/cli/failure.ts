import { CommanderError } from 'commander';
import { toVisible } from '../messages/neutralize.ts';

/** A command that cannot be executed. The message is the line that is printed. */
export class CommandError extends Error {}

/** The options that correspond to the pointers and codes of service errors. */
const OPTIONS: Readonly<Record<string, string>> = {
  '/email': '--email',
  '/externalId': '--external-id',
  '/password': '--password',
  '/accountId': '--email',
  '/ownerId': '--owner',
  '/roleId': '--role',
  '/name': '--name',
  '/planId': '--plan',
  '/addons': '--addon',
  '/clientId': '--client',
  '/redirectUris': '--redirect-uri',
  '/postLogoutRedirectUris': '--post-logout-redirect-uri',
  '/backchannelLogoutUri': '--backchannel-logout-uri',
  '/scopes': '--scopes',
  '/openidScopes': '--scopes',
  '/sessionDays': '--days',
  '/hasTokenLimit': '--token-limit',
  '/cursor': '--cursor',
  '/isConfidential': '--confidential',
  version_mismatch: '--if-version',
  team_not_found: '--team',
  api_key_not_found: '--key',
  account_owns_teams: '--email',
  email_not_verified: '--email',
  member_not_found: '--email',
  role_not_assignable: '--role',
  scope_account_only: '--scopes',
  client_not_found: '--client',
};

/** Describes any failure in one line. */
export async function failureLine(error: unknown, env: NodeJS.ProcessEnv): Promise<string> {
  return toVisible((await describe(error, env)).replace(/\s*[\r\n]+\s*/g, ' ').trim());
}

async function describe(error: unknown, env: NodeJS.ProcessEnv): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CommanderError) {
    return error.code === 'commander.help' ? 'name a command (see --help)' : error.message.replace(/^error: /, '');
  }
  const [{ ProblemError }, { connectionFault }] = await Promise.all([
    import('../problems/error.ts'),
    import('../service/database-fault.ts'),
  ]);
  if (error instanceof ProblemError) {
    const [fault] = error.extras.errors ?? [];
    const option = OPTIONS[fault?.pointer.replace(/\/\d+$/, '') ?? error.problem];
    return option === undefined ? error.message : `${option}: ${error.message}`;
  }
  const variable = env['DATABASE_MIGRATION_URL'] ? 'DATABASE_MIGRATION_URL' : 'DATABASE_URL';
  const databaseUrl = env[variable] ?? '';
  const fault = databaseUrl === '' ? undefined : connectionFault(error, databaseUrl, variable);
  return fault ?? errorSummary(error);
}

/** Returns the message of an error, or of the first attempt if several connection attempts failed. */
export const errorSummary = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return errorSummary(error.errors[0]);
  // The driver appends a detail that quotes the row, which can contain personal data.
  return error instanceof Error ? error.message.replace(/ - detail: .*$/s, '') : String(error);
};
