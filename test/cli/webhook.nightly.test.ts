import { expect, test } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { anId, rosterOfItsOwn, run } from './roster.ts';

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
    endpoint: { endpointId: anId('whe'), url: URL, types: types.split(','), responsibleAccountId: null },
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
  expect(await on('deliveries')).toMatchObject({
    deliveries: [{ deliveryId, type: 'webhook.test', state: 'waiting' }],
    nextCursor: null,
  });
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

/** Inserts an endpoint. */
const anEndpoint = (id: string) =>
  roster.rows(`insert into webhook_endpoint (id, created_at, url, types, secret) values ($1, now(), $2, '{}', $3)`, [
    id,
    URL,
    createEncryption([roster.env.SECRET_KEYS]).encrypt(generateSecret('hmac')),
  ]);

test('deliveries are listed with each attempt, by state and in pages', async () => {
  await anEndpoint('whe_2');
  await roster.rows(
    `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at, reason)
     select 'whd_' || n, now(), 'whe_2', 'evt_' || n, 'team.created', case when n = 2 then 'failed' else 'delivered' end,
       now(), case when n = 2 then 'The receiver answered 500.' end from generate_series(1, 3) n`,
  );
  await roster.rows(
    `insert into webhook_attempt (id, created_at, delivery_id, status, duration_ms, error, answer) values
     ('wha_1', now(), 'whd_2', null, 15000, 'No response within 15000 ms.', null),
     ('wha_2', now(), 'whd_2', 500, 12, null, $1)`,
    ['\u009b31mdown\u202e'],
  );
  type Page = { deliveries: { deliveryId: string }[]; nextCursor: string | null };
  const page = async (...rest: string[]) => {
    const found = await roster.json<Page>('webhook', 'deliveries', '--endpoint', 'whe_2', ...rest);
    return { ids: found.deliveries.map(({ deliveryId }) => deliveryId), next: found.nextCursor };
  };

  const first = await page('--limit', '2');
  expect(first.ids).toEqual(['whd_3', 'whd_2']);
  expect(await page('--limit', '2', '--cursor', first.next ?? '')).toEqual({ ids: ['whd_1'], next: null });
  expect(await page('--state', 'failed')).toEqual({ ids: ['whd_2'], next: null });
  const { stdout } = await run(roster.env, ['webhook', 'deliveries', '--endpoint', 'whe_2', '--limit', '2']);
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^whd_3 .* evt_3  team\.created  delivered$/),
    expect.stringMatching(/^whd_2 .* evt_2  team\.created  failed  The receiver answered 500\.$/),
    expect.stringMatching(/^  20\S+  500  12 ms  "\\u\{9b\}31mdown\\u\{202e\}"$/),
    expect.stringMatching(/^  20\S+  No response within 15000 ms\.  15000 ms$/),
    expect.stringMatching(/^There are more: --cursor [\w-]{40,}$/),
  ]);
  const refusals = ['--state sent', '--limit 51', '--cursor evt_1'].map((wrong) =>
    roster.refusal('webhook', 'deliveries', '--endpoint', 'whe_2', ...wrong.split(' ')),
  );
  expect(await Promise.all(refusals)).toEqual(
    [/--state/, /--limit/, /--cursor/].map((text) => expect.stringMatching(text)),
  );
});

test('a command that does not say what to change, send again or subscribe to changes nothing', async () => {
  await anEndpoint('whe_3');
  await roster.rows(
    `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at)
     values ('whd_old', now(), 'whe_3', 'evt_old', 'team.created', 'failed', now())`,
  );
  const on = (command: string, ...rest: string[]) => roster.refusal('webhook', command, '--endpoint', 'whe_3', ...rest);

  const refusals = [
    on('replay'),
    on('update'),
    on('update', '--types', ' , '),
    roster.refusal('webhook', 'create', '--url', URL, '--types', ''),
    roster.refusal('webhook', 'create', '--url', URL, '--signature', 'hmac,ed25519'),
  ];
  const texts = [
    /--delivery, or a time with --failed-since/,
    /--url or --types/,
    /Name events, or all/,
    /Name events, or all/,
    /no signature hmac,ed25519/,
  ];
  expect(await Promise.all(refusals)).toEqual(texts.map((text) => expect.stringMatching(text)));
  expect(await roster.rows(`select state from webhook_delivery where id = 'whd_old'`)).toEqual([{ state: 'failed' }]);
  expect(await eventsOf('whe_3')).toEqual([]);
  const update = ['webhook', 'update', '--endpoint', 'whe_3', '--types'];
  expect(await roster.json(...update, 'team.created')).toMatchObject({ types: ['team.created'] });
  expect(await roster.json(...update, 'all')).toMatchObject({ types: [] });
});
