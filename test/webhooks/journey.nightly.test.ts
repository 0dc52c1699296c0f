import { expect, onTestFinished, vi } from 'vitest';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { createEventSchema } from '../../src/events/feed/event-schema.ts';
import { pruneEvents } from '../../src/events/chain/retention.ts';
import { createEndpoint } from '../../src/resources/webhooks/endpoints.service.ts';
import { INSTALLATION_TYPES } from '../../src/webhooks/types.ts';
import { signAsBefore } from '../events/chain-log.ts';
import { aScene, MUTATIONS } from '../events/mutations.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { causeTheRest } from './causes.ts';
import { aReceiver, dispatch, numberEvents } from './receiver.ts';

const OLD_KEY = 'test-key-test-key-test-key-test-key';
const NEW_KEY = 'n'.repeat(40);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
// Each of the two replicas knows the key that the other one signs with.
const test = testWith(() => startApi({ SECRET_KEYS: `${OLD_KEY},${NEW_KEY}` }));

// All are caused through HTTP, tRPC, OAuth and the command line, but for `audit_log.pruned`, which takes a year: its job is
// run with a later clock.
test(
  'every event of the catalogue that is delivered is caused, and reaches an endpoint of the installation once, as its schema says',
  { timeout: 240_000 },
  async ({ api }) => {
    const receiver = await aReceiver();
    const { endpoint } = await createEndpoint(api.services, 'installation', {
      url: receiver.url,
      types: [],
      signature: 'hmac',
    });
    dispatch(api);

    await causeTheRest(api);
    for (const [, , prepare] of MUTATIONS) {
      const scene = await aScene(api);
      const { visitor = scene.owner.visitor, call } = await prepare(scene);
      await call(visitor.trpc);
    }
    await numberEvents(api);
    const before = await numbered(api);
    await arrived(() => expect(receiver.received.length).toBeGreaterThanOrEqual(before.length));
    await arrived(async () => expect(await undelivered(api, endpoint)).toEqual([]));

    // What time and a restart cause: a year later, retention deletes the log; a replica starts with a new key.
    await pruneEvents(api.services, silent, new Date(Date.now() + 366 * 86_400_000));
    // And what an upgrade causes, of a version that did not sign the beginning of the chain.
    await signAsBefore(api);
    const restarted = await startApi({ SECRET_KEYS: `${NEW_KEY},${OLD_KEY}` }, api);
    onTestFinished(() => restarted.close());
    await numberEvents(restarted);
    const expected = [...before, ...(await numbered(api))];
    await arrived(() => expect(receiver.received.length).toBeGreaterThanOrEqual(expected.length));
    await arrived(async () => expect(await undelivered(api, endpoint)).toEqual([]));

    expect(new Set(receiver.received.map(({ json }) => json.type))).toEqual(new Set(INSTALLATION_TYPES));
    expect(receiver.received.map(({ headers }) => headers['webhook-id'] ?? '').toSorted()).toEqual(
      expected.map(({ id }) => id).toSorted(),
    );
    for (const { json } of receiver.received) {
      const { timestamp, ...event } = json;
      expect(timestamp).toBe(event['occurredAt' as keyof typeof event]);
      expect(createEventSchema(json.type as EventName).parse(event)).toEqual(event);
    }
  },
);

/** Hundreds of requests take a while. */
const arrived = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 60_000, interval: 50 });

/** The events that have a position and are delivered. */
const numbered = async (api: Api) =>
  (
    await api.rows<{ id: string; event: EventName }>(
      `select e.id, e.event from audit_event e join audit_link l on l.event_id = e.id order by l.sequence`,
    )
  ).filter(({ event }) => EVENTS[event].isDelivered);

const undelivered = (api: Api, { endpointId }: { endpointId: string }) =>
  api.rows(`select event, state, reason from webhook_delivery where endpoint_id = $1 and state <> 'delivered'`, [
    endpointId,
  ]);
