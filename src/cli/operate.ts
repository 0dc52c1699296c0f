import type { Command } from 'commander';
import { runAs, type Actor } from '../events/actor.ts';
import { resolvePooler } from '../db/pooler/detect.ts';
import { readConfig, type Config } from '../config/config.ts';
import type { Services } from '../service/services.ts';
import { CommandError } from './failure.ts';
import { print, type Answer } from './output.ts';
import { terminalOf } from './terminal.ts';

/** Creates a command action with the services of the configuration, on a migrated database. */
export const withServices =
  <Options>(act: (services: Services, options: Options, command: Command) => Promise<Answer>) =>
  async (options: Options, command: Command): Promise<void> => {
    const { openServices } = await import('../service/open.ts');
    const config = readConfig(terminalOf(command).env);
    // No log: stdout is for the result, and changes are recorded in the audit log.
    const opened = await openServices(config, () => undefined);
    let answer: Answer;
    try {
      const { services } = opened;
      answer = await runAs(operatorAt(services), async () =>
        act(services, await resolveTeam(services, options), command),
      );
    } finally {
      await opened.close();
    }
    await print(command, answer);
    if (answer.failure !== undefined) throw new CommandError(answer.failure);
  };

/** Replaces `ext:` and the external id of a team in `--team` by its id. @throws team_not_found */
async function resolveTeam<Options>({ db }: Services, options: Options): Promise<Options> {
  const { team } = options as { team?: unknown }; // an object, of commander
  if (typeof team !== 'string') return options;
  const { toTeamId } = await import('../resources/operator/references.ts');
  return { ...options, team: await toTeamId(db, team) };
}

/** Returns the actor of all commands. Access to this machine makes a user the operator; the account is unknown. */
const operatorAt = ({ audit }: Services): Actor => ({
  actorKind: 'operator_cli',
  actorId: null,
  credentialId: null,
  address: null,
  requestId: null,
  clientRequestId: null,
  audit,
});

/** Runs `use` on the database without migrating it, without a pooler if DATABASE_MIGRATION_URL is set. */
export async function withDatabase<Result>(
  config: Config,
  use: (databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  if (config.databaseMigrationUrl !== undefined) return use(config.databaseMigrationUrl);
  if (config.databaseUrl !== undefined) return use(await resolvePooler(config.databaseUrl, config.databasePooler));
  const { openEmbedded } = await import('../service/open.ts');
  const embedded = await openEmbedded(config);
  try {
    return await use(embedded.url);
  } finally {
    await embedded.close();
  }
}

/** Finds an account by its email address, or by `ext:` and its external id. @throws CommandError with the name of the option */
export async function requireAccountByEmail(
  { db }: Services,
  given: string,
  option = '--email',
): Promise<{ readonly id: string }> {
  const email = given.trim();
  const { EXTERNAL_ID_PREFIX } = await import('../entities/index.ts');
  const externalId = email.startsWith(EXTERNAL_ID_PREFIX) ? email.slice(EXTERNAL_ID_PREFIX.length) : null;
  const { accountOfExternalId } = await import('../resources/operator/references.ts');
  const { accountByEmailStep } = await import('../transactions/email-address.ts');
  const [account] = await (externalId === null
    ? db.query(...accountByEmailStep(email))
    : db.query(accountOfExternalId, [externalId]));
  if (account !== undefined) return account;
  const missing = externalId === null ? `email address ${email}` : `external id ${externalId}`;
  throw new CommandError(`${option}: no account has the ${missing}`);
}
