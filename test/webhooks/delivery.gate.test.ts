import { inChange } from '../support/in-change.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect } from 'vitest';
import { createEndpoint } from '../../src/resources/webhooks/endpoints.service.ts';
import { startApi, testWith } from '../support/api.ts';
import { as, outcomeOf } from '../trpc/console.ts';
import { allMailed } from '../trpc/people.ts';
import { anEndpoint, aReceiver, dispatch, eventually, letTimePass, numberEvents, stateOf } from './receiver.ts';

const test = testWith(() => startApi());

describe('an event', () => {
  test('is delivered once to each endpoint that subscribes, signed, with its id', async ({ api }) => {
    const [receiver, other] = [await aReceiver(), await aReceiver()];
    const { teamId, trpc, secret, endpointId } = await anEndpoint(api, receiver.url);
    const second = await trpc.webhooks.create.mutate({ teamId, url: other.url, types: ['team.updated'] });
    const foreign = await anEndpoint(api, other.url);
    dispatch(api);

    await trpc.teams.updateDetails.mutate({ teamId, description: 'New' });
    await numberEvents(api);
    await eventually(() => expect(other.received.map(({ json }) => json.type)).toContain('team.updated'));
    await eventually(async () =>
      expect((await stateOf(api, endpointId)).every(({ state }) => state === 'delivered')).toBe(true),
    );

    const updated = receiver.received.filter(({ json }) => json.type === 'team.updated');
    expect(updated).toHaveLength(1);
    const [webhook] = updated;
    const [event] = await api.rows<{ id: string }>(
      `select id from audit_event where event = 'team.updated' and team_id = $1`,
      [teamId],
    );
    expect(webhook?.headers['webhook-id']).toBe(event?.id);
    const { events } = await trpc.events.list.query({ teamId, types: ['team.updated'] });
    expect(webhook?.json).toEqual({ ...events[0], timestamp: events[0]?.occurredAt });
    expect(webhook?.json).toMatchObject({ id: event?.id, teamId, data: { team: { description: 'New' } } });
    expect(JSON.stringify(webhook?.json)).not.toContain('127.0.0.1');
    new Webhook(secret).verify(webhook?.body ?? '', webhook?.headers ?? {});
    const same = other.received.find(({ json }) => json.type === 'team.updated');
    new Webhook(second.secret ?? '').verify(same?.body ?? '', same?.headers ?? {});
    expect((await stateOf(api, second.endpoint.endpointId)).map((each) => each.event)).toEqual(['team.updated']);
    expect((await stateOf(api, foreign.endpointId)).filter((each) => each.event === 'team.updated')).toEqual([]);
  });

  test('is delivered once by two replicas', async ({ api }) => {
    const receiver = await aReceiver();
    const { teamId, trpc, endpointId } = await anEndpoint(api, receiver.url);
    dispatch(api);
    dispatch(api);

    for (let i = 0; i < 20; i += 1) await trpc.teams.updateDetails.mutate({ teamId, description: `Text ${i}` });
    await numberEvents(api);
    await eventually(async () =>
      expect((await stateOf(api, endpointId)).filter(({ state }) => state === 'delivered').length).toBeGreaterThan(20),
    );

    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a receiver that fails', () => {
  test('is tried again with the same id and bytes, and a new signature', async ({ api }) => {
    let failures = 1;
    const receiver = await aReceiver((_req, res) =>
      failures-- > 0 ? res.writeHead(500).end('sorry') : res.writeHead(204).end(),
    );
    const { trpc, teamId, endpointId, secret } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts: 1 }]),
    );
    expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ status: 'failing' }]);
    await letTimePass(api, endpointId);
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'delivered', attempts: 2 }]),
    );

    const [first, second] = receiver.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {});
    await eventually(async () =>
      expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ status: 'active', failingSince: null }]),
    );
    const { deliveries } = await trpc.webhooks.deliveries.query({ teamId, endpointId });
    expect(deliveries).toMatchObject([
      {
        state: 'delivered',
        attempts: [
          { status: 204, answer: '' },
          { status: 500, answer: 'sorry', error: null },
        ],
      },
    ]);
  });

  test('is tried ten times, and then the delivery has failed and can be replayed', async ({ api }) => {
    let isUp = false;
    const receiver = await aReceiver((_req, res) => res.writeHead(isUp ? 200 : 503).end());
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await eventually(() => expect(receiver.received).toHaveLength(attempt));
      await eventually(async () => expect((await stateOf(api, endpointId))[0]?.state).not.toBe('sending'));
      await letTimePass(api, endpointId);
    }
    expect(await stateOf(api, endpointId)).toMatchObject([
      { state: 'failed', attempts: 10, reason: 'The receiver answered 503.' },
    ]);

    isUp = true;
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect(await trpc.webhooks.replayFailed.mutate({ teamId, endpointId, since })).toEqual({ replayed: 1 });
    await eventually(async () =>
      expect((await stateOf(api, endpointId))[0]).toMatchObject({ state: 'delivered', attempts: 1 }),
    );
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('gets everything again that failed, however much, in calls of at most 20,000 with the latest first', async ({
    api,
  }) => {
    const { trpc, teamId, endpointId } = await anEndpoint(api, 'http://127.0.0.1:9/hook');
    const since = new Date(Date.now() - 3_600_000).toISOString();
    // More than ten batches of 2,000, and one from before.
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event, state, attempts, due_at, reason)
       select 'whd_' || lpad(n::text, 8, '0'), now() - case n when 0 then '2 hours' else '0 hours' end::interval, $1,
         'team.updated', 'failed', 10, now(), 'The receiver answered 503.' from generate_series(0, 20001) n`,
      [endpointId],
    );
    const failed = () =>
      api.rows(`select id from webhook_delivery where endpoint_id = $1 and state = 'failed' order by id`, [endpointId]);

    expect(await trpc.webhooks.replayFailed.mutate({ teamId, endpointId, since })).toEqual({ replayed: 20_000 });
    expect(await failed()).toEqual([{ id: 'whd_00000000' }, { id: 'whd_00000001' }]);
    expect(await trpc.webhooks.replayFailed.mutate({ teamId, endpointId, since })).toEqual({ replayed: 1 });
    expect(await trpc.webhooks.replayFailed.mutate({ teamId, endpointId, since })).toEqual({ replayed: 0 });
    expect(await failed()).toEqual([{ id: 'whd_00000000' }]);
  });

  test('is not asked before the time that it asked for', async ({ api }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(429, { 'retry-after': '3600' }).end());
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts: 1 }]),
    );

    // Another event for the same endpoint waits, too.
    await trpc.teams.updateDetails.mutate({ teamId, description: 'New' });
    await numberEvents(api);
    await eventually(async () => expect(await stateOf(api, endpointId)).toHaveLength(2));
    const other = await aReceiver();
    const next = await anEndpoint(api, other.url);
    await numberEvents(api);
    await eventually(async () => expect(await stateOf(api, next.endpointId)).toMatchObject([{ state: 'delivered' }]));

    expect(receiver.received).toHaveLength(1);
    const [row] = await api.rows<{ seconds: number }>(
      'select extract(epoch from min(due_at) filter (where attempts = 1) - now())::int as seconds from webhook_delivery where endpoint_id = $1',
      [endpointId],
    );
    expect(row?.seconds).toBeGreaterThan(3500);
  });

  test('with 410 is disabled at once, and its creator gets an email', async ({ api }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(410).end());
    const { trpc, teamId, endpointId, owner } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);
    await eventually(async () =>
      expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([
        { status: 'disabled', disabledReason: 'gone' },
      ]),
    );

    expect((await api.mailTo(owner.email, /endpoint was disabled/)).text).toContain('it answered 410 Gone');
    const events = await api.rows<{ event: string }>('select event from audit_event where target_id = $1 order by id', [
      endpointId,
    ]);
    expect(events.map(({ event }) => event)).toEqual(['webhook_endpoint.created', 'webhook_endpoint.disabled']);
  });

  test('with 410 at a URL that it no longer has is not disabled', async ({ api }) => {
    const next = await aReceiver();
    const change = Promise.withResolvers<() => Promise<unknown>>();
    const receiver = await aReceiver(async (_req, res) => {
      await (
        await change.promise
      )();
      res.writeHead(410).end();
    });
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    change.resolve(() => trpc.webhooks.update.mutate({ teamId, endpointId, url: next.url }));
    const dispatcher = dispatch(api);
    await numberEvents(api);
    await eventually(async () => expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'failed' }]));
    await dispatcher.stop();

    expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ url: next.url, disabledReason: null }]);
    dispatch(api);
    await numberEvents(api);
    await eventually(() => expect(next.received).toMatchObject([{ json: { type: 'webhook_endpoint.updated' } }]));
  });

  test('at an endpoint of the installation tells every operator, and nobody else, when it is disabled', async ({
    api,
  }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(410).end());
    const [first, second, other] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    await api.rows(`update account set role = 'admin' where id = any($1)`, [[first.id, second.id]]);
    const fields = { url: receiver.url, types: [], signature: 'hmac' } as const;
    const { endpoint } = await createEndpoint(api.services, 'installation', fields);
    dispatch(api);
    await numberEvents(api);

    for (const { email } of [first, second]) {
      const { text } = await api.mailTo(email, /endpoint was disabled/);
      expect(text).toContain('endpoint of the installation');
      expect(text).toContain('/operator/webhooks');
    }
    await allMailed(api);
    expect(api.mails.filter(({ to }) => to === other.email)).toEqual([]);
    const [row] = await api.rows('select disabled_reason from webhook_endpoint where id = $1', [endpoint.endpointId]);
    expect(row).toEqual({ disabled_reason: 'gone' });
  });

  test('is not failing because a test failed', async ({ api }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(500).end());
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await trpc.webhooks.sendTest.mutate({ teamId, endpointId });
    await eventually(async () => expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'failed' }]));
    expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ status: 'active' }]);
  });

  test('is disabled with the last attempt of a delivery if none succeeded for five days, and not before', async ({
    api,
  }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(500).end());
    const { trpc, teamId, endpointId, owner } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);
    const failedSince = (interval: string) =>
      api.rows(`update webhook_endpoint set failing_since = now() - $2::interval where id = $1`, [
        endpointId,
        interval,
      ]);
    /** Makes the attempts of a delivery until it has failed. */
    const exhaust = async () => {
      for (let attempts = 1; attempts < 10; attempts += 1) {
        await eventually(async () =>
          expect((await stateOf(api, endpointId)).at(-1)).toMatchObject({ state: 'waiting', attempts }),
        );
        await letTimePass(api, endpointId);
      }
      await eventually(async () =>
        expect((await stateOf(api, endpointId)).at(-1)).toMatchObject({ state: 'failed', attempts: 10 }),
      );
    };
    const status = async () => (await trpc.webhooks.list.query({ teamId }))[0];
    await eventually(async () => expect(await status()).toMatchObject({ status: 'failing' }));
    await failedSince('4 days 23 hours');
    await exhaust();
    expect(await status()).toMatchObject({ status: 'failing' });

    // Nothing was sent for days. The next event gets all its attempts, not only one.
    await failedSince('11 days');
    await trpc.teams.updateDetails.mutate({ teamId, description: 'New' });
    await numberEvents(api);
    await exhaust();
    await eventually(async () =>
      expect(await status()).toMatchObject({ status: 'disabled', disabledReason: 'failing' }),
    );

    expect(receiver.received).toHaveLength(20);
    expect((await api.mailTo(owner.email, /endpoint was disabled/)).text).toContain(
      'no delivery succeeded for five days',
    );
  });

  test('is disabled although more waits than it can be sent, so that nothing has its last attempt', async ({ api }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(500).end());
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    const status = async () => (await trpc.webhooks.list.query({ teamId }))[0];
    dispatch(api);
    await numberEvents(api);
    const hasFailed = (attempts: number) =>
      eventually(async () => expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts }]));
    await hasFailed(1);
    await api.rows(`update webhook_endpoint set failing_since = now() - interval '6 days' where id = $1`, [endpointId]);
    await api.rows(`update webhook_delivery set created_at = now() - interval '3 days' where endpoint_id = $1`, [
      endpointId,
    ]);
    await letTimePass(api, endpointId);
    await hasFailed(2);
    expect(await status()).toMatchObject({ status: 'failing' });

    await api.rows(`update webhook_delivery set created_at = now() - interval '4 days' where endpoint_id = $1`, [
      endpointId,
    ]);
    await letTimePass(api, endpointId);
    await eventually(async () =>
      expect(await status()).toMatchObject({ status: 'disabled', disabledReason: 'failing' }),
    );
  });

  test('and was quiet for days is active again with the next success', async ({ api }) => {
    let failures = 2;
    const receiver = await aReceiver((_req, res) => res.writeHead(failures-- > 0 ? 500 : 200).end());
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts: 1 }]),
    );
    await api.rows(`update webhook_endpoint set failing_since = now() - interval '6 days' where id = $1`, [endpointId]);
    await letTimePass(api, endpointId);
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts: 2 }]),
    );
    expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ status: 'failing' }]);
    await letTimePass(api, endpointId);

    await eventually(async () =>
      expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ status: 'active', failingSince: null }]),
    );
  });
});

describe('a receiver that hangs', () => {
  test('delays no other one beyond its own slots, however many hang', async ({ api }) => {
    const endpoints = 300;
    const ended: unknown[] = [];
    const hanging = await aReceiver((req) => req.socket.on('close', () => ended.push(req.url)));
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId, url: hanging.url });
    // 299 more like it, with five events each: 1,500 requests, more than a process sends at a time.
    await api.rows(
      `insert into webhook_endpoint (id, created_at, account_id, team_id, url, types, secret)
       select 'whe_hangs_' || n, now(), account_id, team_id, url, types, secret
       from webhook_endpoint, generate_series(2, ${endpoints}) n where id = $1`,
      [endpoint.endpointId],
    );
    for (let i = 1; i < 5; i += 1) await trpc.teams.updateDetails.mutate({ teamId, description: `Text ${i}` });
    dispatch(api);
    await numberEvents(api);
    await eventually(() => expect(hanging.received.length).toBeGreaterThanOrEqual(endpoints));

    const receiver = await aReceiver();
    const { endpointId } = await anEndpoint(api, receiver.url);
    await numberEvents(api);
    await eventually(async () => expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'delivered' }]));

    const [sending] = await api.rows<{ most: number }>(
      `select max(number)::int as most from (
         select count(*) as number from webhook_delivery where state = 'sending' group by endpoint_id) each`,
    );
    expect(ended).toEqual([]);
    expect(sending?.most).toBeLessThanOrEqual(5);
  });
});

describe('the member who is responsible', () => {
  test('decides by their permissions what a team’s endpoint gets, at each delivery', async ({ api }) => {
    const receiver = await aReceiver();
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const role = await api.aRole(team, ['edit_team_settings', 'manage_api_keys']);
    await api.aMember(team, account, { role: role.id });
    const trpc = await as(api, account);
    const { endpoint } = await trpc.webhooks.create.mutate({
      teamId: team.id,
      url: receiver.url,
      types: ['team.updated', 'api_key.created'],
    });
    await api.rows(`update role set permissions = '{edit_team_settings}' where id = $1`, [role.id]);
    await trpc.webhooks.sendTest.mutate({ teamId: team.id, endpointId: endpoint.endpointId });
    await inChange(api.services.db, ({ record }) => {
      record('api_key.created', { teamId: team.id, keyId: 'key_1', accountId: account.id });
      record('team.updated', { teamId: team.id });
    });
    dispatch(api);
    await numberEvents(api);
    await eventually(async () =>
      expect(
        (await stateOf(api, endpoint.endpointId)).every(({ state }) => !['waiting', 'sending'].includes(state)),
      ).toBe(true),
    );

    const types = receiver.received.map(({ json }) => json.type);
    expect(types).toContain('team.updated');
    expect(types).toContain('webhook.test');
    expect(types).not.toContain('api_key.created');
    expect(await stateOf(api, endpoint.endpointId)).toContainEqual(
      expect.objectContaining({
        event: 'api_key.created',
        state: 'skipped',
        reason: 'The responsible member lacks the permission manage_api_keys.',
      }),
    );
  });

  test('gets nothing through it while their account is disabled, and what was skipped can be replayed', async ({
    api,
  }) => {
    const receiver = await aReceiver();
    const { teamId, trpc, endpointId, owner } = await anEndpoint(api, receiver.url);
    await api.rows('update account set disabled_at = now() where id = $1', [owner.id]);
    dispatch(api);
    await numberEvents(api);
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([
        { state: 'skipped', reason: 'The membership or account of the responsible member is not active.' },
      ]),
    );
    expect(receiver.received).toEqual([]);

    await api.rows('update account set disabled_at = null where id = $1', [owner.id]);
    const { deliveries } = await trpc.webhooks.deliveries.query({ teamId, endpointId });
    await trpc.webhooks.replay.mutate({ teamId, endpointId, deliveryId: deliveries[0]?.deliveryId ?? '' });
    await eventually(() => expect(receiver.received).toHaveLength(1));
  });

  test('gets nothing more through it after a demotion; what was skipped is replayed once another took it over', async ({
    api,
  }) => {
    const receiver = await aReceiver();
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const account = await api.anAccount();
    await api.aMember(team, account, { role: (await api.aRole(team, ['edit_team_settings'])).id });
    const input = { teamId: team.id };
    const { endpoint } = await (
      await as(api, account)
    ).webhooks.create.mutate({
      ...input,
      url: receiver.url,
      types: ['team.updated'],
    });
    const { endpointId } = endpoint;
    const trpc = await as(api, owner);
    await trpc.members.setRole.mutate({ ...input, userId: account.id, roleId: 'member' });
    await trpc.teams.updateDetails.mutate({ ...input, description: 'New' });
    dispatch(api);
    await numberEvents(api);
    const updated = async () => (await stateOf(api, endpointId)).filter(({ event }) => event === 'team.updated');
    await eventually(async () =>
      expect(await updated()).toMatchObject([
        { state: 'skipped', reason: 'The responsible member lacks the permission edit_team_settings.' },
      ]),
    );
    expect(receiver.received).toEqual([]);

    await trpc.webhooks.update.mutate({ ...input, endpointId, url: receiver.url });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { replayed } = await trpc.webhooks.replayFailed.mutate({ ...input, endpointId, since });
    expect(replayed).toBe((await stateOf(api, endpointId)).length);
    await eventually(async () => expect(await updated()).toMatchObject([{ state: 'delivered' }]));
  });

  test('takes the endpoint along when leaving, until another member takes it over', async ({ api }) => {
    const receiver = await aReceiver();
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const account = await api.anAccount();
    await api.aMember(team, account, { role: (await api.aRole(team, ['edit_team_settings'])).id });
    const theirs = await as(api, account);
    const { endpoint } = await theirs.webhooks.create.mutate({
      teamId: team.id,
      url: receiver.url,
      types: ['team.updated'],
    });
    await theirs.teams.leave.mutate({ teamId: team.id });
    dispatch(api);
    await numberEvents(api);

    const trpc = await as(api, owner);
    const input = { teamId: team.id, endpointId: endpoint.endpointId };
    expect(await trpc.webhooks.list.query(input)).toMatchObject([
      { status: 'disabled', disabledReason: 'member_left' },
    ]);
    expect(await outcomeOf(trpc.webhooks.resume.mutate(input))).toBe('webhook_without_member');
    await trpc.webhooks.rotateSecret.mutate(input);
    expect(await trpc.webhooks.resume.mutate(input)).toMatchObject({
      status: 'active',
      responsibleAccountId: owner.id,
    });
    await trpc.webhooks.sendTest.mutate(input);
    await eventually(() => expect(receiver.received.map(({ json }) => json.type)).toContain('webhook.test'));
  });
});

describe('a paused endpoint', () => {
  test('gets what happened meanwhile when it is resumed', async ({ api }) => {
    const receiver = await aReceiver();
    const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
    await trpc.webhooks.pause.mutate({ teamId, endpointId });
    dispatch(api);
    await numberEvents(api);
    await eventually(async () => expect((await stateOf(api, endpointId)).length).toBeGreaterThan(0));
    expect(receiver.received).toEqual([]);

    await trpc.webhooks.resume.mutate({ teamId, endpointId });
    await eventually(() =>
      expect(receiver.received.map(({ json }) => json.type)).toContain('webhook_endpoint.created'),
    );
  });
});

describe('a sender that stops', () => {
  test('leaves nothing behind: what it was sending is sent by the next', async ({ api }) => {
    let isUp = false;
    const receiver = await aReceiver((_req, res) => (isUp ? res.end() : undefined));
    const { endpointId } = await anEndpoint(api, receiver.url);
    const first = dispatch(api);
    await numberEvents(api);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await first.stop();
    expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts: 0 }]);

    isUp = true;
    dispatch(api);
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'delivered', attempts: 1 }]),
    );
  });

  test('is followed up where it was killed, when its time is over', async ({ api }) => {
    const receiver = await aReceiver();
    const { endpointId } = await anEndpoint(api, receiver.url);
    await numberEvents(api);
    const first = dispatch(api);
    await eventually(async () => expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'delivered' }]));
    await first.stop();
    // What a killed process leaves: claimed, and never noted.
    await api.rows(
      `update webhook_delivery set state = 'sending', due_at = now() - interval '1 second' where endpoint_id = $1`,
      [endpointId],
    );

    dispatch(api);
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await eventually(async () =>
      expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'delivered', attempts: 2 }]),
    );
  });
});
