import { expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';

const test = testWith(() => startApi());
const WEBHOOKS = '/operator/v1/webhooks';
const URL = 'https://example.com/hook';

const anOperator = async (api: Api) => {
  const key = await api.anOperatorKey({ scopes: ['webhooks:write'] });
  return { key, caller: api.as(key) };
};

test('endpoints of the installation are created, changed and deleted, and each change is the key’s in the audit log', async ({
  api,
}) => {
  const { key, caller } = await anOperator(api);
  const created = await caller.post(WEBHOOKS, { url: URL, types: ['account.created', 'team.created'] });
  expect(created).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/) } });
  const { endpointId } = created.body.endpoint;
  const one = `${WEBHOOKS}/${endpointId}`;

  expect((await caller.get(WEBHOOKS)).body.endpoints).toContainEqual(created.body.endpoint);
  expect((await caller.get(WEBHOOKS)).text).not.toContain('whsec_');
  expect((await caller.patch(one, { types: ['team.deleted'] })).body.types).toEqual(['team.deleted']);
  expect((await caller.post(`${one}/pause`)).body.status).toBe('paused');
  expect((await caller.post(`${one}/test`)).body.code).toBe('webhook_inactive');
  expect((await caller.post(`${one}/resume`)).body.status).toBe('active');
  const rotated = await caller.post(`${one}/rotate`, { overlapHours: 1 });
  expect(rotated.body.secret).not.toBe(created.body.secret);
  const { deliveryId } = (await caller.post(`${one}/test`)).body;
  expect((await caller.get(`${one}/deliveries?limit=1&state=waiting`)).body.deliveries).toMatchObject([{ deliveryId }]);
  expect((await caller.post(`${one}/deliveries/${deliveryId}/replay`)).status).toBe(200);
  expect((await caller.post(`${one}/replay-failed`, { since: '2026-01-01T00:00:00Z' })).body).toEqual({ replayed: 0 });
  expect((await caller.delete(one)).status).toBe(200);
  expect((await caller.delete(one)).body.code).toBe('webhook_endpoint_not_found');

  const events = await api.rows<{ event: string }>(
    `select event from audit_event where target_id = $1 and actor_kind = 'operator_key' and credential_id = $2 order by id`,
    [endpointId, key.id],
  );
  expect(events.map(({ event }) => event.replace('webhook_endpoint.', ''))).toEqual([
    'created',
    'updated',
    'paused',
    'resumed',
    'secret_rotated',
    'tested',
    'deleted',
  ]);
});

test('an endpoint of a team is none of the installation', async ({ api }) => {
  const { caller } = await anOperator(api);
  const team = await api.aTeam({ owner: await api.anAccount() });
  await api.rows(
    `insert into webhook_endpoint (id, team_id, url, types, secret, created_at) values ($1, $2, $3, '{}', 'x', now())`,
    [`whe_${team.id}`, team.id, URL],
  );
  const one = `${WEBHOOKS}/whe_${team.id}`;
  for (const answer of [
    await caller.patch(one, {}),
    await caller.delete(one),
    await caller.post(`${one}/rotate`),
    await caller.get(`${one}/deliveries`),
  ])
    expect(answer.body.code).toBe('webhook_endpoint_not_found');
  expect((await caller.get(WEBHOOKS)).text).not.toContain(team.id);
});

test('a private address, an unknown event and a wrong page are refused where they are', async ({ api }) => {
  const { caller } = await anOperator(api);
  const faultOf = async (body: object) => {
    const answer = await caller.post(WEBHOOKS, body);
    return [answer.status, answer.body.errors[0].pointer];
  };
  expect(await faultOf({ url: 'http://169.254.169.254/' })).toEqual([400, '/url']);
  expect(await faultOf({ url: 'ftp://example.com/' })).toEqual([400, '/url']);
  expect(await faultOf({ url: URL, types: ['access.denied'] })).toEqual([400, '/types/0']);
  expect(await faultOf({ url: URL, signature: 'none' })).toEqual([400, '/signature']);
  const { endpointId } = (await caller.post(WEBHOOKS, { url: URL })).body.endpoint;
  const page = await caller.get(`${WEBHOOKS}/${endpointId}/deliveries?limit=51&state=lost`);
  expect(page.body.errors.map(({ in: place, pointer }: { in: string; pointer: string }) => [place, pointer])).toEqual([
    ['query', '/state'],
    ['query', '/limit'],
  ]);
});

test('a host name that DNS cannot have, which no attempt could find, is refused', async ({ api }) => {
  const { caller } = await anOperator(api);
  const { endpointId } = (await caller.post(WEBHOOKS, { url: URL })).body.endpoint;
  const statusesOf = async (host: string) => {
    const url = `https://${host}/`;
    const answers = [await caller.post(WEBHOOKS, { url }), await caller.patch(`${WEBHOOKS}/${endpointId}`, { url })];
    return answers.map(({ status, body }) => [status, body.errors?.[0].pointer]);
  };
  const long = 'abcde.'.repeat(41);

  for (const host of ['a..b', '.', `${'a'.repeat(64)}.example`, `${long}abcdefgh`, 'a'.repeat(300), 'a!b.example'])
    expect([host, await statusesOf(host)]).toEqual([host, Array.from({ length: 2 }, () => [400, '/url'])]);

  for (const host of [
    'hooks',
    'hooks.example.',
    '_a-b.example',
    `${'a'.repeat(63)}.b`,
    `${long}abcdefg`,
    'bücher.example',
  ]) {
    const { status } = await caller.patch(`${WEBHOOKS}/${endpointId}`, { url: `https://${host}/` });
    expect([host, status]).toEqual([host, 200]);
  }
});

test('a change with a key that is revoked while it waits fails and changes nothing', async ({ api }) => {
  const { key, caller } = await anOperator(api);
  const { endpointId } = (await caller.post(WEBHOOKS, { url: URL })).body.endpoint;
  const em = api.services.db.orm.em.fork();
  await em.begin();
  await em.execute('select 1 from operator_key where id = ? for update', [key.id]);
  const waiting = caller.delete(`${WEBHOOKS}/${endpointId}`);
  await expect
    .poll(() =>
      api.rows(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%operator_key%'`),
    )
    .not.toEqual([]);
  await em.execute('update operator_key set revoked_at = now() where id = ?', [key.id]);
  await em.commit();
  expect((await waiting).body.code).toBe('credential_invalid');
  expect(await api.rows('select 1 from webhook_endpoint where id = $1', [endpointId])).toHaveLength(1);
});
