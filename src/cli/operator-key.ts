import { InvalidArgumentError, type Command } from 'commander';
import { toNetwork } from '../auth/networks.ts';
import { OPERATOR_SCOPES, type OperatorScope } from '../entities/index.ts';
import { listOperatorKeys } from '../resources/operator-keys/operator-keys.queries.ts';
import { OVERLAP_HOURS_MAX, presentOperatorKey } from '../resources/operator-keys/operator-keys.schema.ts';
import {
  createOperatorKey,
  revokeOperatorKey,
  rotateOperatorKey,
} from '../resources/operator-keys/operator-keys.service.ts';
import { withServices } from './operate.ts';
import { days, expiryOption, hours, listOf, option, required, resourceName } from './options.ts';
import type { Answer, Line } from './output.ts';

type CreateOptions = {
  name: string;
  scopes: readonly OperatorScope[];
  addresses?: readonly string[];
  expiresInDays?: number;
  expiresAt?: Date;
};
type Shown = ReturnType<typeof presentOperatorKey>;

/** Commands for the keys of the operator API. The first one is created here. */
export function operatorKeyCommands(operatorKey: Command): void {
  operatorKey
    .command('create')
    .description('Create a key of the operator API (/operator/v1)')
    .addOption(required(option('--name <name>', 'name of the key', resourceName)))
    .addOption(required(option('--scopes <list>', `comma-separated, of ${OPERATOR_SCOPES.join(', ')}; or all`, scopes)))
    .addOption(
      option('--addresses <list>', 'IP addresses and networks (CIDR) that can use it; all if omitted', addresses),
    )
    .addOption(option('--expires-in-days <days>', 'expiry, in days from now', days(365)).conflicts('expiresAt'))
    .addOption(expiryOption())
    .action(
      withServices(async (services, { expiresInDays, expiresAt, ...fields }: CreateOptions) =>
        shown(
          await createOperatorKey(services, 'system', {
            name: fields.name,
            scopes: fields.scopes,
            addresses: fields.addresses,
            expiresAt: expiresAt ?? (expiresInDays === undefined ? null : { days: expiresInDays }),
          }),
        ),
      ),
    );

  operatorKey
    .command('list')
    .description('List operator keys that are not revoked, oldest first')
    .action(
      withServices(async ({ db }) => {
        const keys = await listOperatorKeys(db);
        return { json: keys, lines: keys.length > 0 ? keys.map(toLine) : ['There are no operator keys.'] };
      }),
    );

  operatorKey
    .command('rotate')
    .description('Create a new secret. The present one stays valid for the overlap')
    .requiredOption('--key <id>', 'the operator key')
    .addOption(
      option('--overlap-hours <hours>', `from 0 to ${OVERLAP_HOURS_MAX}`, hours(OVERLAP_HOURS_MAX)).default(24),
    )
    .action(
      withServices(async (services, { key, overlapHours }: { key: string; overlapHours: number }) =>
        shown(await rotateOperatorKey(services, 'system', key, overlapHours)),
      ),
    );

  operatorKey
    .command('revoke')
    .description('Revoke an operator key immediately')
    .requiredOption('--key <id>', 'the operator key')
    .action(
      withServices(async (services, { key }: { key: string }) => {
        await revokeOperatorKey(services.db, 'system', key);
        return { json: { success: true }, lines: [`Operator key ${key} revoked.`] };
      }),
    );
}

const known = listOf('scope', OPERATOR_SCOPES);

function scopes(raw: string): readonly OperatorScope[] {
  const list = raw.trim() === 'all' ? OPERATOR_SCOPES : known(raw);
  if (list.length === 0) throw new InvalidArgumentError(`Name at least one scope of ${OPERATOR_SCOPES.join(', ')}.`);
  return list;
}

function addresses(raw: string): readonly string[] {
  const list = raw.split(',').map((part) => part.trim());
  const invalid = list.find((part) => toNetwork(part) === undefined);
  if (invalid !== undefined)
    throw new InvalidArgumentError(
      `${JSON.stringify(invalid)} is neither an IP address nor a network such as 10.0.0.0/8.`,
    );
  return list;
}

const toLine = ({ id, name, keyPrefix, last4, scopes: held, addresses: allowed, expiresAt }: Shown): Line => [
  id,
  name,
  `${keyPrefix}…${last4}`,
  `(${held.join(', ')})`,
  allowed.length === 0 ? null : `from ${allowed.join(', ')}`,
  expiresAt === null ? null : `until ${expiresAt}`,
];

function shown({ key, secret }: Awaited<ReturnType<typeof createOperatorKey>>): Answer {
  const json = { key: presentOperatorKey(key), secret };
  return { json, lines: [toLine(json.key), secret, 'The secret is shown only once.'] };
}
