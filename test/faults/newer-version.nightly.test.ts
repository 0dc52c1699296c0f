import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { numberEvents } from '../../src/events/chain/append.ts';
import { verifyAudit } from '../../src/events/chain/verify.ts';
import { ofTeam } from '../../src/events/definition.ts';
import { NUMBERING_MS } from '../../src/events/newer-version.ts';
import { recordNow } from '../../src/transactions/record-now.ts';
import { createEndpoint } from '../../src/resources/webhooks/endpoints.service.ts';
import { fanOut } from '../../src/webhooks/fan-out.ts';
import { startApi, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { createClient } from '../support/client.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';
import { aReceiver, dispatch, eventually } from '../webhooks/receiver.ts';
import { preload } from './cluster.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';
/** An event that only the newer version knows (`preload/newer-version.ts`). */
const NEW = 'team.archived' as EventName;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function anApi(): Promise<Api> {
  const api = await startApi();
  api.allowStrayEvents();
  onTestFinished(() => api.close());
  return api;
}

/** What the receiver got of the team. */
const typesOf = ({ received }: Awaited<ReturnType<typeof aReceiver>>) =>
  received.map(({ json }) => json.type).filter((type) => type.startsWith('team.'));

/** An operator at the end of the feed, a team, and a receiver of everything. */
async function aScene(api: Api) {
  const team = await api.aTeam({ owner: await api.anAccount() });
  const receiver = await aReceiver();
  const { url } = receiver;
  await createEndpoint(api.services, 'installation', { url, types: [], signature: 'hmac' });
  while ((await numberEvents(api.services, log)).outcome === 'more');
  const key = await api.anOperatorKey({ scopes: ['events:read'] });
  const read = async (after: string, client: Pick<Api, 'as'> = api) => {
    const { status, body } = await client
      .as(key)
      .get(`/operator/v1/events?teamId=${team.id}${after === '' ? '' : `&after=${after}`}`);
    expect(status).toBe(200);
    return body as { events: { id: string; type: string; data: unknown }[]; cursor: string; hasMore: boolean };
  };
  const record = async (type: EventName) => {
    // The newer version knows it while it records it.
    if (type === NEW) Object.assign(EVENTS, { [NEW]: ofTeam() });
    await recordNow(api.services.db, type, { teamId: team.id });
    if (type === NEW) delete (EVENTS as Partial<typeof EVENTS>)[NEW];
  };
  return { team, receiver, record, read, start: (await read('')).cursor };
}

describe('in a rolling upgrade', () => {
  test(
    'events of types that older replicas do not know are numbered, shown and delivered by the newer ones: none is missing, and each has its data',
    { timeout: 180_000 },
    async () => {
      const api = await anApi();
      const { receiver, record, read, start } = await aScene(api);
      const replicas: Pick<Api, 'as'>[] = [];
      for (const env of [{}, preload('newer-version')]) {
        const dataDir = makeDataDir();
        const service = await startService({
          dataDir,
          env: { DATABASE_URL: api.databaseUrl, SECRET_KEYS, RATE_LIMIT: '1000000', ...env },
        });
        onTestFinished(async () => {
          service.kill('SIGKILL');
          await service.exited;
          await removeDataDir(dataDir);
        });
        const client = createClient(service.port, undefined);
        onTestFinished(() => client.close());
        replicas.push(client);
      }
      const count = 40;
      for (let i = 0; i < count; i += 1) {
        await record(i % 4 === 3 ? NEW : 'team.updated');
        await sleep(i % 5 === 0 ? 60 : 0);
      }

      const seen: { id: string; type: string; data: unknown }[] = [];
      let after = start;
      let turn = 0;
      await vi.waitFor(
        async () => {
          // The consumer asks one replica after the other.
          const page = await read(after, replicas[(turn += 1) % 2]);
          after = page.cursor;
          seen.push(...page.events);
          expect(seen.length).toBeGreaterThanOrEqual(count);
        },
        { timeout: 60_000, interval: 50 },
      );
      const recorded = await api.rows<{ id: string; event: string }>(
        `select e.id, e.event from audit_link l join audit_event e on e.id = l.event_id
         where e.event in ('team.updated', $1) order by l.sequence`,
        [NEW],
      );
      expect(seen.map(({ id, type }) => ({ id, event: type }))).toEqual(recorded);
      expect(seen.filter(({ data }) => data === null)).toEqual([]);
      await vi.waitFor(
        () => expect(recorded.filter(({ id }) => !receiver.received.some(({ json }) => json.id === id))).toEqual([]),
        { timeout: 60_000, interval: 100 },
      );
      expect(await verifyAudit(api.services)).toMatchObject({ faults: [], pending: 0 });
    },
  );
});

describe('after a rollback, an older version', () => {
  test('waits a bounded time for a newer one to number an event, then does it and keeps its place', async () => {
    const api = await anApi();
    const { team, record } = await aScene(api);
    await record('team.updated');
    await record(NEW);
    const places = () =>
      api.rows(`select type, data from event_payload where team_id = $1 order by sequence`, [team.id]);

    expect((await numberEvents(api.services, log)).outcome).toBe('left');
    expect(await places()).toEqual([]);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + NUMBERING_MS);
    onTestFinished(() => clock.mockRestore());
    expect((await numberEvents(api.services, log)).outcome).toBe('done');

    expect(await places()).toEqual([
      { type: 'team.updated', data: { team: expect.objectContaining({ id: team.id }) } },
      { type: NEW, data: null },
    ]);
  });

  test('stops its feeds and webhooks before an event of an unknown type, so that a newer one goes on, and passes it after an hour', async () => {
    const api = await anApi();
    const { receiver, record, read, start } = await aScene(api);
    for (const type of ['team.updated', NEW, 'team.renamed'] as const) await record(type);
    await numberEvents(api.services, log);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + NUMBERING_MS);
    await numberEvents(api.services, log);
    clock.mockRestore();

    const first = await read(start);
    expect(first.events.map(({ type }) => type)).toEqual(['team.updated']);
    expect(await read(first.cursor)).toEqual({ events: [], cursor: first.cursor, hasMore: false });
    dispatch(api);
    await eventually(() => expect(typesOf(receiver)).toEqual(['team.updated']));
    expect(await fanOut(api.services.db.pools.writes)).toBe(false);

    await api.rows(`update event_payload set created_at = created_at - interval '2 hours'`);
    await api.rows('alter table audit_event disable trigger user');
    await api.rows(`update audit_event set occurred_at = occurred_at - interval '2 hours'`);
    expect((await read(first.cursor)).events.map(({ type }) => type)).toEqual(['team.renamed']);
    await eventually(() => expect(typesOf(receiver)).toEqual(['team.updated', 'team.renamed']));
  });

  test('leaves a delivery that a newer one created to it', async () => {
    const api = await anApi();
    const { receiver, record } = await aScene(api);
    await record(NEW);
    const [event] = await api.rows<{ id: string }>('select id from audit_event where event = $1', [NEW]);
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at)
       select 'whd_newer', now(), id, $1, $2, 'waiting', now() from webhook_endpoint`,
      [event?.id, NEW],
    );
    await api.rows(`insert into webhook_queue (endpoint_id, next_at) select id, now() from webhook_endpoint
      on conflict (endpoint_id) do update set next_at = now() - interval '1 ms'`);
    const { outcomes } = dispatch(api);
    await eventually(() => expect(outcomes).toContain('retried'));

    await eventually(async () =>
      expect(await api.rows(`select state, attempts from webhook_delivery where id = 'whd_newer'`)).toEqual([
        { state: 'waiting', attempts: 0 },
      ]),
    );
    expect(typesOf(receiver)).toEqual([]);
    expect(await api.rows('select failing_since from webhook_endpoint')).toEqual([{ failing_since: null }]);
  });

  test('shows the audit log of a team with such an event', async () => {
    const api = await anApi();
    const { team, record } = await aScene(api);
    await record(NEW);
    const [owner] = await api.rows<{ id: string }>('select account_id as id from membership where team_id = $1', [
      team.id,
    ]);
    const { trpc } = await signedIn(api, { id: owner?.id ?? '' });
    const { events } = await trpc.audit.list.query({ teamId: team.id });
    expect(events).toMatchObject([{ event: NEW }]);
  });
});
