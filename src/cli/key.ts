import { InvalidArgumentError, type Command } from 'commander';
import { isAccountOnly } from '../auth/scopes.ts';
import { SCOPES, type Scope } from '../entities/index.ts';
import { presentFullKey } from '../resources/api-keys/api-keys.schema.ts';
import { createApiKeyFor } from '../resources/api-keys/creation.service.ts';
import { memberOfTeam, teamExists } from '../resources/operator/member-list.queries.ts';
import type { Services } from '../service/services.ts';
import { CommandError } from './failure.ts';
import { keyListCommand } from './key-list.ts';
import { keyRevokeCommand } from './key-revoke.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { days, emailOption, expiryOption, listOf, option, productPermissions, resourceName } from './options.ts';

type CreateOptions = {
  email: string;
  team?: string;
  name: string;
  scopes: readonly Scope[] | 'all';
  productPermissions: readonly string[];
  expiresInDays?: number;
  expiresAt?: Date;
};

export function keyCommands(key: Command): void {
  key
    .command('create')
    .description('Create an API key for an account (ignores KEY_LIMIT)')
    .addOption(emailOption('the account'))
    .option(
      '--team <id>',
      'limit the key to this team (the account must be a member); its id, or ext: and its external id',
    )
    .addOption(option('--name <name>', 'name of the key', resourceName).default('Created by the operator'))
    .addOption(
      option(
        '--scopes <list>',
        `comma-separated, of ${SCOPES.join(', ')}; or all (for a team key, all except the account-only scopes)`,
        scopes,
      ).default([], 'none'),
    )
    .addOption(
      option(
        '--product-permissions <list>',
        'permissions of your product, comma-separated; with some, the key needs no scopes',
        productPermissions,
      ).default([], 'none'),
    )
    .addOption(option('--expires-in-days <days>', 'expiry, in days from now', days(365)).conflicts('expiresAt'))
    .addOption(expiryOption())
    .action(
      withServices(async (services, { email, team, name, expiresInDays, expiresAt, ...options }: CreateOptions) => {
        const { id } = await requireAccountByEmail(services, email);
        if (team !== undefined) await requireMember(services, team, { id, email });
        const created = await createApiKeyFor(services, 'system', id, {
          name,
          scopes:
            options.scopes === 'all'
              ? SCOPES.filter((scope) => team === undefined || !isAccountOnly(scope))
              : options.scopes,
          permissions: options.productPermissions,
          teamId: team,
          expiresAt: expiresAt ?? (expiresInDays === undefined ? null : { days: expiresInDays }),
        });
        const json = { key: presentFullKey(created.key), secret: created.secret };
        return {
          json,
          lines: [
            [json.key.id, name, `(${[...json.key.scopes, ...json.key.permissions].join(', ')})`],
            json.secret,
            'The secret is shown only once.',
          ],
        };
      }),
    );

  keyListCommand(key);
  keyRevokeCommand(key);
}

const known = listOf('scope', SCOPES);

function scopes(raw: string): readonly Scope[] | 'all' {
  if (raw.trim() === 'all') return 'all';
  const list = known(raw);
  if (list.length === 0) throw new InvalidArgumentError(`Name at least one scope of ${SCOPES.join(', ')}.`);
  return list;
}

// Inactive members are accepted: the key works while the membership is active.
async function requireMember({ db }: Services, teamId: string, account: { id: string; email: string }): Promise<void> {
  const [teams, members] = await Promise.all([
    db.query(teamExists, [teamId]),
    db.query(memberOfTeam, [teamId, account.id]),
  ]);
  if (teams.length === 0) throw new CommandError(`--team: team ${teamId} does not exist`);
  if (members.length === 0) throw new CommandError(`--team: ${account.email} is not a member of this team`);
}
