import { describe, expect, onTestFinished } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { numberEvents } from '../../src/events/chain/append.ts';
import { emitNumbered } from '../../src/events/wake.ts';
import { post, refresh, someTokens } from '../oauth/flow.ts';
import { signedIn } from '../support/browser.ts';
import { testWith, startApi, type Api } from '../support/api.ts';

const test = testWith(() => startApi());
const EVENTS = '/operator/v1/events';
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const number = async ({ services }: Api) => {
  while ((await numberEvents(services, log)).outcome === 'more');
  emitNumbered(services.db);
};

/** A team whose owner renames it, as often as asked, and an operator at the end of the feed before that. */
async function aScene(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: ['teams:write'] });
  const operatorKey = await api.anOperatorKey({ scopes: ['events:read'] });
  const operator = api.as(operatorKey);
  const rename = async (name: string) => {
    expect((await api.as(key).patch(`/api/v1/teams/${team.id}`, { name })).status).toBe(200);
    await number(api);
  };
  await number(api);
  let cursor = '';
  for (let hasMore = true; hasMore;) {
    const { body } = await operator.get(`${EVENTS}?limit=100${cursor === '' ? '' : `&after=${cursor}`}`);
    ({ cursor, hasMore } = body);
  }
  return { owner, team, operator, operatorKey, cursor, rename };
}

test('the feed has the events of all teams in their order, and goes on after its cursor', async ({ api }) => {
  const one = await aScene(api);
  const other = await aScene(api);
  await one.rename('One');
  await other.rename('Other');

  const page = (query: string) => one.operator.get(`${EVENTS}?after=${one.cursor}${query}`);
  const all = (await page('')).body;
  expect(all.events.map(({ data }: { data: { team: { name: string } } }) => data.team.name)).toEqual(['One', 'Other']);
  const first = (await page('&limit=1')).body;
  expect(first).toMatchObject({ events: [all.events[0]], hasMore: true });
  const rest = (await one.operator.get(`${EVENTS}?after=${first.cursor}`)).body;
  expect(rest).toMatchObject({ events: [all.events[1]], hasMore: false });

  expect((await page(`&teamId=${other.team.id}`)).body.events).toEqual([all.events[1]]);
  expect((await page(`&accountId=${one.owner.id}`)).body.events).toEqual([all.events[0]]);
  expect((await page('&types=team.renamed,%20role.created')).body.events).toEqual(all.events);
  expect((await page('&types=role.created')).body.events).toEqual([]);
});

test('the feed is filtered by external ids too, and one that nobody has is a 404', async ({ api }) => {
  const { owner, team, operator, cursor, rename } = await aScene(api);
  const [crm, tenant] = [newId('crm'), newId('tenant')];
  await api.rows('update account set external_id = $1 where id = $2', [crm, owner.id]);
  await api.rows('update team set external_id = $1 where id = $2', [tenant, team.id]);
  await rename('Mine');
  const found = async (query: string) => (await operator.get(`${EVENTS}?after=${cursor}&${query}`)).body.events;

  const byTeam = await found(`teamId=ext:${tenant}`);
  expect(byTeam).toMatchObject([{ type: 'team.renamed', teamId: team.id }]);
  expect(await found(`accountId=ext:${crm}`)).toEqual(byTeam);
  expect(await operator.get(`${EVENTS}?teamId=ext:${crm}`)).toBeProblem('team_not_found');
  expect(await operator.get(`${EVENTS}?accountId=ext:${tenant}`)).toBeProblem('account_not_found');
});

test('every invalid parameter is named where it is', async ({ api }) => {
  const { operator } = await aScene(api);
  for (const [query, pointer, code] of [
    ['limit=0', '/limit', 'min_value'],
    ['limit=101', '/limit', 'max_value'],
    ['limit=many', '/limit', 'invalid_type'],
    ['limit=1e2', '/limit', 'invalid_type'],
    ['limit=', '/limit', 'invalid_type'],
    ['limit=1&limit=2', '/limit', 'invalid_type'],
    ['wait=21', '/wait', 'max_value'],
    ['wait=-1', '/wait', 'min_value'],
    ['types=', '/types', 'min_length'],
    ['types=team.created,nothing', '/types', 'invalid_value'],
    ['types=access.denied', '/types', 'invalid_value'],
    ['after=nothing', '/after', 'invalid_value'],
    ['after=%00', '/after', 'invalid_format'],
    [`teamId=${'x'.repeat(256)}`, '/teamId', 'max_length'],
  ] as const) {
    const { status, body } = await operator.get(`${EVENTS}?${query}`);
    expect([query, status, body.errors]).toEqual([
      query,
      400,
      [expect.objectContaining({ in: 'query', pointer, code })],
    ]);
  }
});

test('a cursor that is too old is a 410 with the oldest one', async ({ api }) => {
  const { operator, cursor, rename } = await aScene(api);
  await rename('Before');
  await api.rows('update audit_head set feed_start = sequence');
  await rename('After');

  const gone = await operator.get(`${EVENTS}?after=${cursor}`);
  expect([gone.status, gone.body.code]).toEqual([410, 'cursor_expired']);
  const { events } = (await operator.get(`${EVENTS}?after=${gone.body.oldestCursor}`)).body;
  expect(events).toMatchObject([{ data: { team: { name: 'After' } } }]);
  await api.rows('update audit_head set feed_start = 0');
});

test('a cursor of another installation is refused, and one with the same keys is told where to begin', async ({
  api,
}) => {
  const { operator } = await aScene(api);
  for (const settings of [{}, { SECRET_KEYS: 'o'.repeat(40) }]) {
    const other = await startApi(settings);
    onTestFinished(() => other.close());
    const there = await aScene(other);
    await there.rename('There');
    const { cursor } = (await there.operator.get(EVENTS)).body;

    const { status, body } = await operator.get(`${EVENTS}?after=${cursor}`);
    // With other keys it is no cursor at all, but for one in two thousand that decrypts to a number.
    if (settings.SECRET_KEYS === undefined || status === 410)
      expect([status, body.code, typeof body.oldestCursor]).toEqual([410, 'cursor_expired', 'string']);
    else expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: '/after' })]]);
  }
});

test('a type that is named twice counts once', async ({ api }) => {
  const { operator, cursor, rename } = await aScene(api);
  await rename('Once');
  const types = Array.from({ length: 200 }, () => 'team.renamed').join(',');
  expect((await operator.get(`${EVENTS}?after=${cursor}&types=${types}`)).body.events).toHaveLength(1);
});

test('a waiting call is answered as soon as something happens, and no later than it asked', async ({ api }) => {
  const { operator, team, cursor, rename } = await aScene(api);
  const waiting = operator.get(`${EVENTS}?after=${cursor}&wait=20&teamId=${team.id}`);
  await rename('While it waits');
  expect((await waiting).body.events).toMatchObject([{ data: { team: { name: 'While it waits' } } }]);
  const { cursor: end } = (await waiting).body;
  expect((await operator.get(`${EVENTS}?after=${end}&wait=1&teamId=${team.id}`)).body).toMatchObject({ events: [] });
});

test('a waiting call ends with its key', async ({ api }) => {
  const { operator, operatorKey, cursor } = await aScene(api);
  const waiting = operator.get(`${EVENTS}?after=${cursor}&wait=20`);
  const revoker = await api.anOperatorKey({ scopes: ['keys:write'] });
  expect((await api.as(revoker).delete(`/operator/v1/operator-keys/${operatorKey.id}`)).status).toBe(200);
  await number(api);
  expect((await waiting).body.code).toBe('credential_invalid');
});

describe('what operators change', () => {
  test('is in their feed with what it is about, and what is about an account in its own feed too', async ({ api }) => {
    const { owner, operator, cursor } = await aScene(api);
    const admin = api.as(await api.anOperatorKey());
    for (const change of ['disable', 'enable'])
      expect((await admin.post(`/operator/v1/accounts/${owner.id}/${change}`)).status).toBe(200);
    const key = { name: 'A key', scopes: ['teams:read'] };
    const { body: created } = await admin.post('/operator/v1/operator-keys', key);
    const { body: listed } = await admin.get('/operator/v1/operator-keys');
    await number(api);

    const { events } = (await operator.get(`${EVENTS}?after=${cursor}`)).body;
    const account = { id: owner.id, email: owner.email };
    expect(events).toMatchObject([
      { type: 'operator.account_disabled', accountId: owner.id, data: { account } },
      { type: 'operator.account_enabled', accountId: owner.id, data: { account } },
      { type: 'operator_key.created', target: { type: 'operator_key', id: created.key.id } },
    ]);
    expect(events[2].data).toEqual({
      operatorKey: listed.keys.find(({ id }: { id: string }) => id === created.key.id),
    });

    const { trpc } = await signedIn(api, owner);
    const own = await trpc.events.listMine.query({ after: cursor, limit: 100 });
    expect(own.events).toMatchObject([
      {
        type: 'operator.account_disabled',
        accountId: owner.id,
        actor: { kind: 'operator', id: null },
        data: { account },
      },
      { type: 'operator.account_enabled', accountId: owner.id, actor: { kind: 'operator', id: null } },
    ]);
  });

  test('of a subscription is shown as the billing of the team', async ({ api }) => {
    const { owner, team, operator, cursor } = await aScene(api);
    const admin = api.as(await api.anOperatorKey());
    const plan = { planId: 'pro', status: 'active', interval: 'month', addons: { seats: 2 } };
    const set = await admin.send({
      method: 'PUT',
      path: `/operator/v1/teams/${team.id}/subscription`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(plan),
    });
    expect(set.status).toBe(200);
    await number(api);

    const { body: billing } = await api
      .as(await api.anApiKey(owner, { scopes: ['billing:read'] }))
      .get(`/api/v1/teams/${team.id}/billing`);
    const { events } = (await operator.get(`${EVENTS}?after=${cursor}`)).body;
    expect(billing).toMatchObject({ planName: 'Pro', addons: { seats: 2 } });
    expect(events).toMatchObject([{ type: 'team.plan_set', teamId: team.id, data: { subscription: billing } }]);
  });

  test('of a webhook endpoint is shown as its owner sees it, without what can be a secret', async ({ api }) => {
    const { owner, team, operator, cursor } = await aScene(api);
    const { trpc } = await signedIn(api, owner);
    const url = 'https://hooks.example/services/T0KEN?key=s3cret';
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId: team.id, url, signature: 'ed25519' });
    await number(api);

    const { events } = (await operator.get(`${EVENTS}?after=${cursor}&types=webhook_endpoint.created`)).body;
    expect(endpoint.publicKey).toMatch(/^whpk_/);
    expect(events.map(({ data }: { data: object }) => data)).toEqual([
      { webhookEndpoint: { ...endpoint, url: 'https://hooks.example' } },
    ]);
  });
});

test('a token that is given back, or used twice, is in the feed of its account, and one that is issued is not', async ({
  api,
}) => {
  const { cursor } = await aScene(api);
  const { account, visitor, client, tokens } = await someTokens(api, { scopes: ['profile:read', 'teams:read'] });
  await post(api, '/oauth/revoke', client, { token: tokens.access });
  await refresh(api, client, tokens.refresh);
  // Not the same request: it asks for less.
  await refresh(api, client, tokens.refresh, { scope: 'profile:read' });
  await number(api);

  const { events } = await visitor.trpc.events.listMine.query({ after: cursor, limit: 100 });
  const ofTokens = events.filter(({ type }) => type.startsWith('oauth_token.'));
  expect(ofTokens).toMatchObject([
    { type: 'oauth_token.revoked', accountId: account.id, data: { oauthGrant: { client: { id: client.id } } } },
    { type: 'oauth_token.reused', accountId: account.id, target: { type: 'oauth_grant' } },
  ]);
});
