import { InvalidArgumentError, type Command, type Option } from 'commander';
import { DELIVERY_STATES, type DeliveryState } from '../entities/index.ts';
import type { Services } from '../service/services.ts';
import { replayDelivery, replayFailed, sendTestEvent } from '../resources/webhooks/deliveries.service.ts';
import {
  createEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  resumeEndpoint,
  rotateSecret,
  updateEndpoint,
} from '../resources/webhooks/endpoints.service.ts';
import { OVERLAP_HOURS_MAX, URL_LENGTH_MAX } from '../resources/webhooks/webhooks.schema.ts';
import { createCursors } from '../procedures/cursors.ts';
import { listDeliveries, listEndpoints } from '../resources/webhooks/webhooks.queries.ts';
import { INSTALLATION_TYPES } from '../webhooks/types.ts';
import { SIGNATURE_KINDS, type SignatureKind } from '../crypto/webhook-secret.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';
import { hours, instant, listOf, oneOf, option, required, textOf } from './options.ts';
import type { Answer, Line } from './output.ts';
import { deliveryLines } from './webhook-deliveries.ts';

const OWNER = 'installation';
const PAGE_MAX = 50;

type Endpoint = { endpoint: string };
type Fields = { url?: string; types?: ReturnType<typeof types>; signature?: SignatureKind };
type Page = { state?: DeliveryState; cursor?: string; limit: number };
type Shown = Awaited<ReturnType<typeof listEndpoints>>[number];

const known = listOf('event', INSTALLATION_TYPES);
const url = () => option('--url <url>', 'where the events are sent to', textOf(1, URL_LENGTH_MAX));
const typesOption = (omitted: string) =>
  option('--types <list>', `comma-separated names of events, or all (if omitted: ${omitted})`, types);
const endpointOption = (): Option => required(option('--endpoint <id>', 'the endpoint', textOf(1, 255)));

/** Commands for the endpoints of the installation, which get the events of all teams and accounts. */
export function webhookCommands(webhook: Command): void {
  webhook
    .command('create')
    .description('Create an endpoint of the installation')
    .addOption(required(url()))
    .addOption(typesOption('all'))
    .addOption(option('--signature <kind>', 'hmac or ed25519', oneOf('signature', SIGNATURE_KINDS)).default('hmac'))
    .action(
      withServices(async (services, fields: Fields) => {
        const { url: address = '', types: names = [], signature = 'hmac' } = fields;
        return shown(await createEndpoint(services, OWNER, { url: address, types: names, signature }));
      }),
    );

  webhook
    .command('list')
    .description('List the endpoints of the installation')
    .action(
      withServices(async (services) => {
        const endpoints = await listEndpoints(services, OWNER);
        return { json: endpoints, lines: endpoints.length > 0 ? endpoints.map(toLine) : ['There are no endpoints.'] };
      }),
    );

  webhook
    .command('update')
    .description('Change the URL or the events of an endpoint')
    .addOption(endpointOption())
    .addOption(url())
    .addOption(typesOption('unchanged'))
    .action(
      withServices(async (services, { endpoint, url: address, types: names }: Endpoint & Fields) => {
        if (address === undefined && names === undefined) throw new CommandError('name a change: --url or --types');
        return one(await updateEndpoint(services, OWNER, endpoint, { url: address, types: names }));
      }),
    );

  onEndpoint(webhook, 'pause', 'Keep events until the endpoint is resumed', async (services, id) =>
    one(await pauseEndpoint(services, OWNER, id)),
  );
  onEndpoint(webhook, 'resume', 'Deliver to a paused or disabled endpoint again', async (services, id) =>
    one(await resumeEndpoint(services, OWNER, id)),
  );
  onEndpoint(webhook, 'delete', 'Delete an endpoint and its deliveries', async (services, id) => {
    await deleteEndpoint(services, OWNER, id);
    return { json: { deleted: id }, lines: [`Endpoint ${id} deleted.`] };
  });
  onEndpoint(webhook, 'test', 'Send a test event, once', async (services, id) => {
    const deliveryId = await sendTestEvent(services.db, OWNER, id);
    return { json: { deliveryId }, lines: [`Test event ${deliveryId} queued. See \`webhook deliveries\`.`] };
  });

  webhook
    .command('deliveries')
    .description('List deliveries with each attempt, the latest first')
    .addOption(endpointOption())
    .addOption(option('--state <state>', DELIVERY_STATES.join(', '), oneOf('state', DELIVERY_STATES)))
    .addOption(option('--cursor <cursor>', 'the next page: `nextCursor` of the one before', textOf(1, 8192)))
    .addOption(option('--limit <number>', `from 1 to ${PAGE_MAX}`, limit).default(PAGE_MAX))
    .action(
      withServices(async (services, { endpoint, ...page }: Endpoint & Page) => {
        const cursors = createCursors(services, 'cli');
        const found = await listDeliveries(services.db, cursors, OWNER, null, { endpointId: endpoint, ...page });
        return { json: found, lines: deliveryLines(found) };
      }),
    );

  webhook
    .command('rotate')
    .description('Create a new secret. The present one also signs for the overlap')
    .addOption(endpointOption())
    .addOption(option('--overlap-hours <hours>', 'from 0 to 168', hours(OVERLAP_HOURS_MAX)).default(24))
    .action(
      withServices(async (services, { endpoint, overlapHours }: Endpoint & { overlapHours: number }) =>
        shown(await rotateSecret(services, OWNER, endpoint, overlapHours)),
      ),
    );

  webhook
    .command('replay')
    .description('Send one delivery again, or all that failed since a time')
    .addOption(endpointOption())
    .addOption(option('--delivery <id>', 'one delivery', textOf(1, 255)).conflicts('failedSince'))
    .addOption(
      option('--failed-since <instant>', 'all that failed or was skipped, as ISO 8601 with a time zone', instant),
    )
    .action(
      withServices(
        async (services, { endpoint, delivery, failedSince }: Endpoint & { delivery?: string; failedSince?: Date }) => {
          const replayed = await replay(services, endpoint, delivery, failedSince);
          return { json: { replayed }, lines: [`${replayed} deliveries scheduled.`] };
        },
      ),
    );
}

async function replay(
  services: Services,
  endpoint: string,
  delivery: string | undefined,
  failedSince: Date | undefined,
): Promise<number> {
  if (failedSince !== undefined) return replayFailed(services.db, OWNER, endpoint, failedSince);
  if (delivery === undefined) throw new CommandError('name a delivery with --delivery, or a time with --failed-since');
  await replayDelivery(services.db, OWNER, endpoint, delivery);
  return 1;
}

/** Parses names of events. None means all, so that a list that is empty by mistake must not be accepted. */
function types(raw: string): ReturnType<typeof known> {
  if (raw.trim() === 'all') return [];
  const names = known(raw);
  if (names.length === 0) throw new InvalidArgumentError('Name events, or all.');
  return names;
}

function limit(raw: string): number {
  const count = /^\d{1,3}$/.test(raw) ? Number(raw) : 0;
  if (count < 1 || count > PAGE_MAX) throw new InvalidArgumentError(`It must be a whole number from 1 to ${PAGE_MAX}.`);
  return count;
}

function onEndpoint(
  webhook: Command,
  name: string,
  description: string,
  act: (services: Services, endpointId: string) => Promise<Answer>,
): void {
  webhook
    .command(name)
    .description(description)
    .addOption(endpointOption())
    .action(withServices((services, { endpoint }: Endpoint) => act(services, endpoint)));
}

const toLine = ({ endpointId, url: address, status, types: names }: Shown): Line => [
  endpointId,
  status,
  address,
  names.join(',') || 'all events',
];

const one = (endpoint: Shown): Answer => ({ json: endpoint, lines: [toLine(endpoint)] });

const shown = ({ endpoint, secret }: { endpoint: Shown; secret: string | null }): Answer => ({
  json: { endpoint, secret },
  lines: [
    toLine(endpoint),
    ...(secret === null ? [`Public key: ${endpoint.publicKey}`] : [secret, 'The secret is shown only once.']),
  ],
});
