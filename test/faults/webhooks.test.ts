import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { aNameServer } from '../outbound/name-server.ts';
import { aServer } from '../outbound/receiver.ts';
import { SECRET_KEYS } from '../runtime/workers.ts';
import { startApi, testWith } from '../support/api.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';
import {
  anEndpoint,
  aReceiver,
  dispatch,
  eventually,
  letTimePass,
  numberEvents,
  stateOf,
} from '../webhooks/receiver.ts';

const test = testWith(() => startApi());
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

type Endpoint = Awaited<ReturnType<typeof anEndpoint>>;

/** The first event of an endpoint as its owner sees it: what became of it, and its tries. */
async function firstOf({ trpc, teamId, endpointId }: Endpoint) {
  const { deliveries } = await trpc.webhooks.deliveries.query({ teamId, endpointId });
  return deliveries.at(-1);
}

/** The tries of the first event, once there is one. */
async function tries(endpoint: Endpoint) {
  await vi.waitFor(async () => expect((await firstOf(endpoint))?.attempts.length).toBeGreaterThan(0), {
    timeout: 25_000,
    interval: 50,
  });
  return firstOf(endpoint);
}

describe('the tries of an endpoint show a receiver', () => {
  test('that says nothing in 15 s: no answer, and it is tried again', async ({ api }) => {
    const receiver = await aReceiver(() => undefined);
    const endpoint = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);

    expect(await tries(endpoint)).toMatchObject({
      state: 'waiting',
      attempts: [{ status: null, error: 'No response within 15000 ms.', answer: null }],
    });
  });

  test('that begins to answer and hangs: the status that came counts', async ({ api }) => {
    const receiver = await aReceiver((_req, res) => res.writeHead(202).write('so far'));
    const endpoint = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);

    expect(await tries(endpoint)).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 202, error: null, answer: 'so far' }],
    });
  });

  test('that resets the connection: the error, and it is tried again', async ({ api }) => {
    const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy())).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // listening on TCP
    const endpoint = await anEndpoint(api, `http://127.0.0.1:${port}/`);
    dispatch(api);
    await numberEvents(api);

    expect(await tries(endpoint)).toMatchObject({
      state: 'waiting',
      attempts: [{ status: null, error: expect.stringMatching(/ECONNRESET|hang up/), answer: null }],
    });
  });

  test('that answers 500 for a day: seven tries, and the eighth delivers all of it', async ({ api }) => {
    let isUp = false;
    const receiver = await aReceiver((_req, res) => res.writeHead(isUp ? 200 : 500).end(isUp ? 'thanks' : 'down'));
    const endpoint = await anEndpoint(api, receiver.url);
    const { endpointId, teamId, trpc } = endpoint;
    dispatch(api);
    await numberEvents(api);
    let waitedMs = 0;
    for (let attempts = 1; waitedMs < 86_400_000; attempts += 1) {
      await eventually(async () =>
        expect(await stateOf(api, endpointId)).toMatchObject([{ state: 'waiting', attempts }]),
      );
      // The clock moves on to the next try.
      const [row] = await api.rows<{ ms: number }>(
        `select extract(epoch from due_at - now())::float8 * 1000 as ms from webhook_delivery where endpoint_id = $1`,
        [endpointId],
      );
      waitedMs += row?.ms ?? 0;
      isUp = waitedMs >= 86_400_000;
      await api.rows(`update webhook_endpoint set failing_since = now() - $2 * interval '1 ms' where id = $1`, [
        endpointId,
        waitedMs,
      ]);
      await letTimePass(api, endpointId);
    }
    await eventually(async () => expect((await firstOf(endpoint))?.state).toBe('delivered'));

    const statuses = (await firstOf(endpoint))?.attempts.map(({ status, answer }) => [status, answer]);
    expect(statuses).toEqual([[200, 'thanks'], ...Array.from({ length: 7 }, () => [500, 'down'])]);
    expect(await trpc.webhooks.list.query({ teamId })).toMatchObject([{ status: 'active', failingSince: null }]);
  });

  test('that redirects with 301: the status, and the other place gets nothing', async ({ api }) => {
    const other = await aReceiver();
    const receiver = await aReceiver((_req, res) => res.writeHead(301, { location: other.url }).end('moved'));
    const endpoint = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);

    expect(await tries(endpoint)).toMatchObject({
      state: 'waiting',
      reason: 'The receiver answered 301.',
      attempts: [{ status: 301, answer: 'moved' }],
    });
    expect(other.received).toEqual([]);
  });

  test('that answers 10 MB: the first KB, and the rest is not read', async ({ api }) => {
    const size = 10 * 1024 * 1024;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let sent = 0;
    const closed = vi.fn<() => void>();
    const receiver = await aReceiver((_req, res) => {
      res.writeHead(200, { 'content-length': size });
      const pour = () => {
        while (sent < size && !res.destroyed) {
          sent += chunk.length;
          if (!res.write(chunk)) return;
        }
      };
      res.on('drain', pour).on('close', closed);
      pour();
    });
    const endpoint = await anEndpoint(api, receiver.url);
    dispatch(api);
    await numberEvents(api);

    expect(await tries(endpoint)).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 200, answer: 'x'.repeat(1024) }],
    });
    await eventually(() => expect(closed).toHaveBeenCalledOnce());
    expect(sent).toBeLessThan(size);
  });

  test.each([
    ['leads to a private address from now on', [10, 0, 0, 1] as const, /^A connection to this host is not allowed\.$/],
    ['is not answered by its name server', 'silence' as const, /^client\.example was not resolved within 5000 ms\.$/],
  ])('whose name %s: nothing is connected to', async (_what, later, error) => {
    const api = await startApi();
    onTestFinished(() => api.close());
    let isChanged = false;
    const names = await aNameServer(({ type }) => {
      if (isChanged && later === 'silence') return later;
      if (type === 'AAAA') return 'no address';
      return isChanged ? later : [127, 0, 0, 1];
    });
    const server = await aServer((_req, res) => res.end('ok'));
    const { ca } = server.allowed;
    const network = { ca, names: { servers: [names.server] }, allowedNetworks: ['127.0.0.1'] };
    const dispatcher = startDispatcher(api.services, silent, undefined, () => network);
    onTestFinished(() => dispatcher.stop());
    const endpoint = await anEndpoint(api, server.url);
    await numberEvents(api);
    expect(await tries(endpoint)).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] });

    isChanged = true;
    const { teamId, endpointId, trpc } = endpoint;
    await trpc.webhooks.replay.mutate({ teamId, endpointId, deliveryId: (await firstOf(endpoint))?.deliveryId ?? '' });
    await eventually(async () => expect((await firstOf(endpoint))?.attempts).toHaveLength(2));

    expect(await firstOf(endpoint)).toMatchObject({
      state: 'waiting',
      attempts: [{ status: null, error: expect.stringMatching(error), answer: null }, { status: 200 }],
    });
    expect(server.connections()).toBe(1);
  });
});

describe('a service that is killed at any moment', () => {
  test(
    'delivers every event, repeats only what it was sending, and keeps the order of the feed',
    { timeout: 150_000 },
    async ({ api }) => {
      const dataDir = makeDataDir();
      onTestFinished(() => removeDataDir(dataDir));
      const env = { DATABASE_URL: api.databaseUrl, SECRET_KEYS };
      const receiver = await aReceiver((_req, res) => void setTimeout(() => res.end('ok'), 20));
      const { trpc, teamId, endpointId } = await anEndpoint(api, receiver.url);
      const order = async () => {
        const { events } = await trpc.events.list.query({ teamId, limit: 100 });
        return events.map(({ id }) => id);
      };
      const kills = 3;
      let known: string[] = [];
      for (let round = 0; round <= kills; round += 1) {
        // What a killed one was sending is sent again a minute later; the clock moves on.
        await api.rows(`update webhook_delivery set due_at = now() - interval '1 second' where state = 'sending'`);
        const service = await startService({ dataDir, env });
        const before = receiver.received.length;
        for (let i = 0; i < 15; i += 1)
          await trpc.teams.updateDetails.mutate({ teamId, description: `Text ${round} ${i}` });
        if (round === kills) {
          const recorded = await api.rows('select 1 from audit_event where team_id = $1', [teamId]);
          await eventually(async () => expect(await stateOf(api, endpointId)).toHaveLength(recorded.length));
          await vi.waitFor(
            async () =>
              expect((await stateOf(api, endpointId)).filter(({ state }) => state !== 'delivered')).toEqual([]),
            { timeout: 40_000, interval: 100 },
          );
        } else await eventually(() => expect(receiver.received.length).toBeGreaterThan(before + round));
        service.kill('SIGKILL');
        await service.exited;
        const now = await order();
        expect(now.slice(0, known.length)).toEqual(known);
        known = now;
      }
      await numberEvents(api);

      const recorded = await api.rows<{ id: string }>(
        'select e.id from audit_event e join audit_link l on l.event_id = e.id where team_id = $1 order by l.sequence',
        [teamId],
      );
      const ids = receiver.received.map(({ headers }) => headers['webhook-id'] ?? '');
      expect(await order()).toEqual(recorded.map(({ id }) => id));
      expect(new Set(ids)).toEqual(new Set(recorded.map(({ id }) => id)));
      // Five at a time at most, each of which can have been answered and not yet noted.
      expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(5 * kills);
    },
  );
});
