import { expect } from 'vitest';
import { readWebhookState } from '../../src/webhooks/state.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { anEndpoint, aReceiver, dispatch, eventually, numberEvents } from './receiver.ts';

const test = testWith(() => startApi());

const HOUR = 3600;
const overdue = async (api: Api) => (await readWebhookState(api.services.db)).overdueSeconds;

test('what waits behind a request to a receiver that hangs is not overdue; what no process sends is', async ({
  api,
}) => {
  const receiver = await aReceiver(() => undefined);
  const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
  await api.rows('update webhook_endpoint set failing_since = now() where id = $1', [endpointId]);
  await trpc.teams.updateDetails.mutate({ teamId, description: 'New' });
  const dispatcher = dispatch(api);
  await numberEvents(api);
  await eventually(() => expect(receiver.received).toHaveLength(1));
  const waited = await api.rows(
    `update webhook_delivery set due_at = now() - interval '2 hours' where endpoint_id = $1 and state = 'waiting'
     returning 1`,
    [endpointId],
  );
  expect(waited).toHaveLength(1);
  expect(await overdue(api)).toBeLessThan(HOUR);

  await dispatcher.stop();
  await api.rows(`update webhook_queue set next_at = now() - interval '2 hours' where endpoint_id = $1`, [endpointId]);
  expect(await overdue(api)).toBeGreaterThan(HOUR);

  // A process that ended while it was sending.
  await api.rows('update webhook_queue set next_at = null where endpoint_id = $1', [endpointId]);
  expect(await overdue(api)).toBeLessThan(HOUR);
  await api.rows(
    `update webhook_delivery set state = 'sending', due_at = now() - interval '2 hours' where endpoint_id = $1`,
    [endpointId],
  );
  expect(await overdue(api)).toBeGreaterThan(HOUR);
});
