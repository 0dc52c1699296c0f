import { expect } from 'vitest';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { createEventSchema } from '../../src/events/feed/event-schema.ts';
import { recordNow } from '../../src/events/record.ts';
import { createEndpoint } from '../../src/resources/webhooks/endpoints.service.ts';
import { INSTALLATION_TYPES } from '../../src/webhooks/types.ts';
import { aScene, MUTATIONS } from '../events/mutations.ts';
import { startApi, testWith } from '../support/api.ts';
import { aReceiver, dispatch, eventually, numberEvents } from './receiver.ts';

const test = testWith(() => startApi());

test('every event of the catalogue that is delivered reaches an endpoint of the installation once, as its schema says', async ({
  api,
}) => {
  const receiver = await aReceiver();
  const { endpoint } = await createEndpoint(api.services, 'installation', {
    url: receiver.url,
    types: [],
    signature: 'hmac',
  });
  dispatch(api);

  for (const [, , prepare] of MUTATIONS) {
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await prepare(scene);
    await call(visitor.trpc);
  }
  // What no procedure causes by itself: the command line, failing emails, and what ends by time.
  const recorded = await api.rows<{ event: string }>('select distinct event from audit_event');
  const missing = INSTALLATION_TYPES.filter((type) => !recorded.some(({ event }) => event === type));
  for (const type of missing) await recordNow(api.services.db, type, {});
  await numberEvents(api);

  const expected = await api.rows<{ id: string; event: EventName }>(
    `select e.id, e.event from audit_event e join audit_link l on l.event_id = e.id order by l.sequence`,
  );
  const delivered = expected.filter(({ event }) => EVENTS[event].isDelivered);
  await eventually(() => expect(receiver.received.length).toBeGreaterThanOrEqual(delivered.length));
  await eventually(async () =>
    expect(
      await api.rows(`select id from webhook_delivery where endpoint_id = $1 and state <> 'delivered'`, [
        endpoint.endpointId,
      ]),
    ).toEqual([]),
  );

  expect(new Set(receiver.received.map(({ json }) => json.type))).toEqual(new Set(INSTALLATION_TYPES));
  expect(receiver.received.map(({ headers }) => headers['webhook-id'] ?? '').toSorted()).toEqual(
    delivered.map(({ id }) => id).toSorted(),
  );
  for (const { json } of receiver.received) {
    const { timestamp, ...event } = json;
    expect(timestamp).toBe(event['occurredAt' as keyof typeof event]);
    expect(createEventSchema(json.type as EventName).parse(event)).toEqual(event);
  }
  // What a change causes, and not the record alone.
  expect(missing.length).toBeLessThan(INSTALLATION_TYPES.length / 3);
});
