import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { aNameServer } from '../outbound/name-server.ts';
import { aServer } from '../outbound/receiver.ts';
import { SECRET_KEYS } from '../runtime/workers.ts';
import { startApi, testWith } from '../support/api.ts';
import { randomOf } from '../support/random.ts';
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
import { PATIENCE_MS } from '../support/patience.ts';

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
    timeout: PATIENCE_MS,
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
    [
      'leads to a private address from now on',
      [10, 0, 0, 1] as const,
      /^This host does not exist, or a connection to it is not allowed\.$/,
    ],
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

describe('1,000 endpoints of which 100 hang', () => {
  test('the 900 others get theirs while each of the 100 still hangs, before a request of theirs has ended', async ({
    api,
  }) => {
    const ended: unknown[] = [];
    const hanging = await aReceiver((req) => req.socket.on('close', () => ended.push(req.url)));
    const answered = new Set<string | undefined>();
    const receiver = await aReceiver((req, res) => res.end(void answered.add(req.url)));
    const { endpointId } = await anEndpoint(api, hanging.url);
    // 99 more that hang, and 900 that answer, each at a path of its own.
    await api.rows(
      `insert into webhook_endpoint (id, created_at, account_id, team_id, url, types, secret)
       select 'whe_' || n, now(), account_id, team_id,
         case when n < 100 then url || '/' || n else $2 || '/' || n end, types, secret
       from webhook_endpoint, generate_series(1, 999) n where id = $1`,
      [endpointId, receiver.url],
    );
    dispatch(api);
    await numberEvents(api);
    await eventually(() => expect([answered.size, hanging.received.length]).toEqual([900, 100]));

    expect(ended).toEqual([]);
    expect(receiver.received).toHaveLength(900);
  });
});

type Write = { readonly port: number; readonly secret: string; readonly teamId: string; readonly name: string };

/** Changes a team until the service is gone, each change with the name of its request. */
async function writeUntilKilled(
  { port, secret, teamId, name }: Write,
  onAcknowledged: (id: string) => void,
): Promise<void> {
  for (let i = 0; ; i += 1) {
    const id = `${name}-${i}`;
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/teams/${teamId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-request-id': id },
      body: JSON.stringify({ name: `Team ${id}` }),
    }).catch(() => null);
    if (answer === null) return;
    if (answer.status !== 200) throw new Error(`The change was answered with ${answer.status}.`);
    onAcknowledged(id);
    await answer.arrayBuffer().catch(() => undefined);
  }
}

describe('a service that is killed at random moments under changes', () => {
  test(
    'loses no change that it acknowledged, delivers every event, repeats only what it was sending, and keeps the order of the feed',
    { timeout: 150_000 },
    async ({ api }) => {
      const random = randomOf('kills');
      const dataDir = makeDataDir();
      onTestFinished(() => removeDataDir(dataDir));
      const env = { DATABASE_URL: api.databaseUrl, SECRET_KEYS, RATE_LIMIT: '100000' };
      const receiver = await aReceiver((_req, res) => void setTimeout(() => res.end('ok'), 20));
      const { trpc, owner, teamId, endpointId } = await anEndpoint(api, receiver.url);
      const { secret } = await api.anApiKey(owner, { scopes: ['teams:write'] });
      const acknowledged: string[] = [];
      const feed = async () => {
        const read: { id: string; clientRequestId: string | null }[] = [];
        for (let after: string | undefined; ;) {
          const page = await trpc.events.list.query({ teamId, after, limit: 100 });
          read.push(...page.events);
          after = page.cursor;
          if (page.events.length === 0) return read;
        }
      };
      const order = async () => (await feed()).map(({ id }) => id);
      // What a killed one was sending is sent again a minute later; the clock moves on.
      const start = async () => {
        await api.rows(`update webhook_delivery set due_at = now() - interval '1 second' where state = 'sending'`);
        return startService({ dataDir, env });
      };
      const kills = 5;
      let known: string[] = [];
      for (let round = 0; round < kills; round += 1) {
        const { port, kill, exited } = await start();
        const target = acknowledged.length + 1 + random(25);
        const writers = Array.from({ length: 4 }, (_, writer) =>
          writeUntilKilled({ port, secret, teamId, name: `change-${round}-${writer}` }, (id) => acknowledged.push(id)),
        );
        await eventually(() => expect(acknowledged.length).toBeGreaterThanOrEqual(target));
        await sleep(random(40));
        kill('SIGKILL');
        await Promise.all([exited, ...writers]);
        const now = await order();
        expect(now.slice(0, known.length)).toEqual(known);
        known = now;
      }
      const { kill, exited } = await start();
      const recorded = () =>
        api.rows<{ id: string; sequence: string | null }>(
          'select e.id, l.sequence from audit_event e left join audit_link l on l.event_id = e.id where team_id = $1 order by l.sequence',
          [teamId],
        );
      await vi.waitFor(
        async () => {
          expect((await recorded()).filter(({ sequence }) => sequence === null)).toEqual([]);
          expect(await stateOf(api, endpointId)).toHaveLength((await recorded()).length);
          expect((await stateOf(api, endpointId)).filter(({ state }) => state !== 'delivered')).toEqual([]);
        },
        { timeout: 60_000, interval: 100 },
      );
      kill('SIGKILL');
      await exited;

      const shown = await feed();
      const times = (id: string) => shown.filter(({ clientRequestId }) => clientRequestId === id).length;
      expect(acknowledged.filter((id) => times(id) !== 1)).toEqual([]);
      const ids = receiver.received.map(({ headers }) => headers['webhook-id'] ?? '');
      expect(shown.map(({ id }) => id)).toEqual((await recorded()).map(({ id }) => id));
      expect(shown.slice(0, known.length).map(({ id }) => id)).toEqual(known);
      expect(new Set(ids)).toEqual(new Set(shown.map(({ id }) => id)));
      // Five at a time at most, each of which can have been answered and not yet noted.
      expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(5 * kills);
      expect((await verifyAudit(api.services)).faults).toEqual([]);
    },
  );
});
