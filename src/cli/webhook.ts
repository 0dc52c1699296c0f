import type { Command, Option } from 'commander';
import type { Services } from '../app-services.ts';
import { replayDelivery, replayFailed, sendTestEvent } from '../resources/webhooks/deliveries.service.ts';
import {
  createEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  resumeEndpoint,
  rotateSecret,
  updateEndpoint,
} from '../resources/webhooks/endpoints.service.ts';
import { OVERLAP_HOURS_MAX } from '../resources/webhooks/webhooks.schema.ts';
import { listDeliveries, listEndpoints } from '../resources/webhooks/webhooks.queries.ts';
import { INSTALLATION_TYPES } from '../webhooks/types.ts';
import type { SignatureKind } from '../crypto/webhook-secret.ts';
import { withServices, type Answer } from './operate.ts';
import { hours, instant, listOf, option, required, textOf } from './options.ts';

const OWNER = 'installation';
const PAGE = 50;

type Endpoint = { endpoint: string };
type Fields = { url?: string; types?: ReturnType<typeof types>; signature?: SignatureKind };
type Shown = Awaited<ReturnType<typeof listEndpoints>>[number];

const types = listOf('event', INSTALLATION_TYPES);
const url = () => option('--url <url>', 'where the events are sent to', textOf(1, 2000));
const typesOption = () => option('--types <list>', 'comma-separated names of events; all if omitted', types);
const endpointOption = (): Option => required(option('--endpoint <id>', 'the endpoint', textOf(1, 255)));

/** Commands for the endpoints of the installation, which get the events of all teams and accounts. */
export function webhookCommands(webhook: Command): void {
  webhook
    .command('create')
    .description('Create an endpoint of the installation')
    .addOption(required(url()))
    .addOption(typesOption())
    .addOption(
      option(
        '--signature <kind>',
        'hmac or ed25519',
        (raw) => listOf('signature', ['hmac', 'ed25519'])(raw)[0],
      ).default('hmac'),
    )
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
        return { json: endpoints, text: endpoints.map(line).join('\n') || 'There are no endpoints.' };
      }),
    );

  webhook
    .command('update')
    .description('Change the URL or the events of an endpoint')
    .addOption(endpointOption())
    .addOption(url())
    .addOption(typesOption())
    .action(
      withServices(async (services, { endpoint, url: address, types: names }: Endpoint & Fields) =>
        one(await updateEndpoint(services, OWNER, endpoint, { url: address, types: names })),
      ),
    );

  onEndpoint(webhook, 'pause', 'Keep events until the endpoint is resumed', async (services, id) =>
    one(await pauseEndpoint(services, OWNER, id)),
  );
  onEndpoint(webhook, 'resume', 'Deliver to a paused or disabled endpoint again', async (services, id) =>
    one(await resumeEndpoint(services, OWNER, id)),
  );
  onEndpoint(webhook, 'delete', 'Delete an endpoint and its deliveries', async (services, id) => {
    await deleteEndpoint(services, OWNER, id);
    return { json: { deleted: id }, text: `Endpoint ${id} deleted.` };
  });
  onEndpoint(webhook, 'test', 'Send a test event, once', async (services, id) => {
    const deliveryId = await sendTestEvent(services, OWNER, id);
    return { json: { deliveryId }, text: `Test event ${deliveryId} queued. See \`webhook deliveries\`.` };
  });
  onEndpoint(webhook, 'deliveries', 'List the latest deliveries with their last answer', async ({ db }, id) => {
    const { deliveries } = await listDeliveries(db, OWNER, { endpointId: id, limit: PAGE });
    const lines = deliveries.map(({ deliveryId, type, state, attempts: [last], nextAttemptAt }) =>
      [deliveryId, type, state, last?.status ?? last?.error ?? '-', nextAttemptAt ?? ''].join('  ').trimEnd(),
    );
    return { json: deliveries, text: lines.join('\n') || 'There are no deliveries.' };
  });

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
          if (delivery !== undefined) await replayDelivery(services, OWNER, endpoint, delivery);
          const replayed =
            delivery === undefined ? await replayFailed(services, OWNER, endpoint, failedSince ?? new Date(0)) : 1;
          return { json: { replayed }, text: `${replayed} deliveries scheduled.` };
        },
      ),
    );
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

const line = ({ endpointId, url: address, status, types: names }: Shown): string =>
  [endpointId, status, address, names.join(',') || 'all events'].join('  ');

const one = (endpoint: Shown): Answer => ({ json: endpoint, text: line(endpoint) });

const shown = ({ endpoint, secret }: { endpoint: Shown; secret: string | null }): Answer => ({
  json: { endpoint, secret },
  text:
    secret === null
      ? `${line(endpoint)}\nPublic key: ${endpoint.publicKey}`
      : `${line(endpoint)}\n${secret}\nThe secret is shown only once.`,
});
