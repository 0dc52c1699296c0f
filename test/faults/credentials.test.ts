import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type Caller } from '../support/client.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startCluster, type Cluster } from './cluster.ts';

const ROUNDS = 12;
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

type Seen = { startedAt: number; status: number };

/**
 * Uses a credential on both replicas without a pause, ends it on one of them, and goes on for a while.
 * @returns the answers to requests that began after the end had been acknowledged, and whether any was served before
 */
async function raced(secret: string, path: string, end: () => Promise<number>) {
  const seen: Seen[] = [];
  let acknowledgedAt = Infinity;
  const lane = async (caller: Caller) => {
    for (let left = AFTERWARDS; left > 0;) {
      const startedAt = performance.now();
      const { status } = await caller.get(path);
      seen.push({ startedAt, status });
      if (startedAt > acknowledgedAt) left -= 1;
    }
  };
  const lanes = Promise.all(clients.flatMap((client) => Array.from({ length: LANES }, () => lane(client.as(secret)))));
  await expect.poll(() => seen.length, { interval: 1 }).toBeGreaterThan(2 * LANES);
  expect(await end()).toBe(200);
  acknowledgedAt = performance.now();
  await lanes;
  return {
    before: seen.some(({ status }) => status === 200),
    after: new Set(seen.filter(({ startedAt }) => startedAt > acknowledgedAt).map(({ status }) => status)),
  };
}

async function anOwner() {
  return cluster.make(async (factories) => {
    const account = await factories.anAccount();
    const [caller, client] = await Promise.all([
      factories.anApiKey(account, { scopes: ALL_SCOPES }),
      factories.anOAuthClient({ native: true }),
    ]);
    const keys = await Promise.all(Array.from({ length: ROUNDS }, () => factories.anApiKey(account)));
    const grants = await Promise.all(Array.from({ length: ROUNDS }, () => factories.aGrant(account, { client })));
    return { account, caller, client, keys, grants };
  });
}

/** The replicas in turns. */
const clientOf = (round: number) => clients[round % clients.length] as (typeof clients)[number]; // the remainder is below

describe('for every request that starts after the answer, on both replicas', () => {
  test('a revoked key is refused', async () => {
    const { caller, keys } = await anOwner();

    for (const [round, key] of keys.entries()) {
      const revoke = () => clientOf(round).as(caller).delete(`/api/v1/api-keys/${key.id}`);
      const outcome = await raced(key.secret, '/api/v1/teams', async () => (await revoke()).status);
      expect(outcome).toEqual({ before: true, after: new Set([401]) });
    }
  });

  test('a key lacks the scope that was taken from it', async () => {
    const { caller, keys } = await anOwner();

    for (const [round, key] of keys.entries()) {
      const narrow = () =>
        clientOf(round)
          .as(caller)
          .patch(`/api/v1/api-keys/${key.id}`, { scopes: ['profile:read'] });
      const outcome = await raced(key.secret, '/api/v1/teams', async () => (await narrow()).status);
      expect(outcome).toEqual({ before: true, after: new Set([403]) });
    }
  });

  test('a revoked access token is refused', async () => {
    const { client, grants } = await anOwner();

    for (const [round, grant] of grants.entries()) {
      const revoke = () =>
        clientOf(round).anonymous.send({
          method: 'POST',
          path: '/oauth/revoke',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ client_id: client.id, token: grant.secret }).toString(),
        });
      const outcome = await raced(grant.secret, '/api/v1/teams', async () => (await revoke()).status);
      expect(outcome).toEqual({ before: true, after: new Set([401]) });
    }
  });
});
