import { expect, test } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { anId, rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();
type Created = { endpoint: { endpointId: string }; secret: string };

const URL = 'https://example.com/hook';
const eventsOf = async (endpointId: string) =>
  (
    await roster.rows<{ event: string }>(
      `select event from audit_event where target_id = $1 and actor_kind = 'operator_cli' order by id`,
      [endpointId],
    )
  ).map(({ event }) => event.replace('webhook_endpoint.', ''));

test('an endpoint of the installation is created, listed and deleted, and each change is recorded', async () => {
  const types = 'account.created,team.created';
  const created = await roster.json<Created>('webhook', 'create', '--url', URL, '--types', types);
  const { endpointId } = created.endpoint;

  expect(created).toMatchObject({
    endpoint: { endpointId: anId('whe'), url: URL, types: types.split(','), responsibleUserId: null },
    secret: expect.stringMatching(/^whsec_/),
  });
  expect(await roster.json('webhook', 'list')).toEqual([created.endpoint]);
  expect(await roster.json('webhook', 'delete', '--endpoint', endpointId)).toEqual({ deleted: endpointId });
  expect(await eventsOf(endpointId)).toEqual(['created', 'deleted']);
});

test('its secret is rotated, and tests and replays are queued', async () => {
  await roster.rows(
    `insert into webhook_endpoint (id, created_at, url, types, secret) values ('whe_1', now(), $1, '{}', $2)`,
    [URL, createEncryption([roster.env.SECRET_KEYS]).encrypt(generateSecret('hmac'))],
  );
  const on = (command: string, ...rest: string[]) => roster.json('webhook', command, '--endpoint', 'whe_1', ...rest);

  expect(await on('rotate', '--overlap-hours', '0')).toMatchObject({ secret: expect.stringMatching(/^whsec_/) });
  const { deliveryId } = (await on('test')) as { deliveryId: string };
  expect(await on('deliveries')).toMatchObject([{ deliveryId, type: 'webhook.test', state: 'waiting' }]);
  expect(await on('replay', '--failed-since', '2026-01-01T00:00:00Z')).toEqual({ replayed: 0 });
  expect(await eventsOf('whe_1')).toEqual(['secret_rotated', 'tested']);
});

test('a command with what cannot be is one line', async () => {
  expect(await roster.refusal('webhook', 'create', '--url', 'https://10.0.0.1/')).toMatch(/public IP address/);
  expect(await roster.refusal('webhook', 'delete', '--endpoint', 'whe_nothing')).toMatch(/not found/i);
  expect(await roster.refusal('webhook', 'create', '--url', 'https://example.com', '--types', 'nonsense')).toMatch(
    /no event nonsense/,
  );
});
