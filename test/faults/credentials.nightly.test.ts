import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_SCOPES } from '../rest/operations.ts';
import { createVisitor, signedIn } from '../support/browser.ts';
import { createClient } from '../support/client.ts';
import { startCluster, type Cluster } from './cluster.ts';

const ROUNDS = 10;
const LANES = 3;
const AFTERWARDS = 3;

let cluster: Cluster;
let clients: ReturnType<typeof createClient>[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  clients = cluster.replicas.map(({ port }) => createClient(port, undefined));
});

afterAll(async () => {
  for (const client of clients) client.close();
  await cluster.close();
});

type Client = ReturnType<typeof createClient>;

/**
 * Uses a credential on both replicas without a pause, takes it or a part of it away on one of them, and goes on.
 * @returns how requests were answered before, and those that began after it had been acknowledged
 */
async function raced(use: (client: Client) => Promise<{ status: number }>, takeAway: () => Promise<unknown>) {
  const seen: { startedAt: number; status: number }[] = [];
  let acknowledgedAt = Infinity;
  const lane = async (client: Client) => {
    for (let left = AFTERWARDS; left > 0;) {
      const startedAt = performance.now();
      const { status } = await use(client);
      seen.push({ startedAt, status });
      if (startedAt > acknowledgedAt) left -= 1;
    }
  };
  const lanes = Promise.all(clients.flatMap((client) => Array.from({ length: LANES }, () => lane(client))));
  await expect.poll(() => seen.length, { interval: 1 }).toBeGreaterThan(2 * LANES);
  const before = [...seen];
  await takeAway();
  acknowledgedAt = performance.now();
  await lanes;
  return {
    before: statusesOf(before),
    after: statusesOf(seen.filter(({ startedAt }) => startedAt > acknowledgedAt)),
  };
}

const statusesOf = (seen: readonly { status: number }[]) => [...new Set(seen.map(({ status }) => status))];

const withSecret =
  ({ secret }: { secret: string }) =>
  (client: Client) =>
    client.as(secret).get('/api/v1/teams');

/** Somebody who is signed in at each replica, with a key that may do everything. */
async function anOwner() {
  return cluster.make(async (factories, services) => {
    const account = await factories.anAccount();
    const caller = await factories.anApiKey(account, { scopes: ALL_SCOPES });
    const visitors = await Promise.all(
      cluster.replicas.map(({ port }) =>
        signedIn(
          { services, rows: factories.rows, visitor: () => createVisitor(port, `http://localhost:${port}`) },
          account,
        ),
      ),
    );
    const keys = await Promise.all(Array.from({ length: ROUNDS }, () => factories.anApiKey(account)));
    const grants = await Promise.all(
      Array.from({ length: ROUNDS }, () => factories.aGrant(account, { scopes: ['teams:read', 'members:read'] })),
    );
    return { account, caller, visitors, keys, grants };
  });
}

/** The replicas in turns. */
const inTurn = <Item>(items: readonly Item[], round: number): Item => items[round % items.length] as Item; // never empty

describe('for every request that starts after the answer, on both replicas', () => {
  test('a revoked key is rejected', async () => {
    const { caller, keys } = await anOwner();

    for (const [round, key] of keys.entries()) {
      const outcome = await raced(withSecret(key), async () => {
        const { status } = await inTurn(clients, round).as(caller).delete(`/api/v1/api-keys/${key.id}`);
        expect(status).toBe(200);
      });
      expect(outcome).toEqual({ before: [200], after: [401] });
    }
  });

  test('a key lacks the scope that was taken from it', async () => {
    const { caller, keys } = await anOwner();

    for (const [round, key] of keys.entries()) {
      const outcome = await raced(withSecret(key), async () => {
        const scopes = ['profile:read'];
        const { status } = await inTurn(clients, round).as(caller).patch(`/api/v1/api-keys/${key.id}`, { scopes });
        expect(status).toBe(200);
      });
      expect(outcome).toEqual({ before: [200], after: [403] });
    }
  });

  test('a revoked grant is rejected', async () => {
    const { visitors, grants } = await anOwner();

    for (const [round, grant] of grants.entries()) {
      const revoke = () => inTurn(visitors, round).trpc.grants.revoke.mutate({ grantId: grant.id });
      expect(await raced(withSecret(grant), revoke)).toEqual({ before: [200], after: [401] });
    }
  });

  test('a grant lacks the scope that was taken from it', async () => {
    const { visitors, grants } = await anOwner();

    for (const [round, grant] of grants.entries()) {
      const narrow = () =>
        inTurn(visitors, round).trpc.grants.narrow.mutate({ grantId: grant.id, scopes: ['members:read'] });
      expect(await raced(withSecret(grant), narrow)).toEqual({ before: [200], after: [403] });
    }
  });

  test('a session that was revoked elsewhere is rejected', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { caller, visitors } = await anOwner();
      const [visitor] = visitors;
      const [token] = visitor?.cookies.values() ?? [];
      const cookie = cluster.replicas.map(({ port }) => `roster_session_${port}=${token}`).join('; ');
      const use = (client: Client) =>
        client.anonymous.send({
          method: 'GET',
          path: '/trpc/listTeams',
          headers: { ...visitor?.headers, cookie, 'content-type': 'application/json' },
        });
      const outcome = await raced(use, async () => {
        const { body: sessions } = await inTurn(clients, round).as(caller).get('/api/v1/me/sessions');
        await Promise.all(
          (sessions as { id: string }[]).map(({ id }) =>
            inTurn(clients, round).as(caller).delete(`/api/v1/me/sessions/${id}`),
          ),
        );
      });
      expect(outcome).toEqual({ before: [200], after: [401] });
    }
  });
});
