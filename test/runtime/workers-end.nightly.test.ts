import { existsSync, readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../support/client.ts';
import { hasRedis } from '../support/redis.ts';
import type { Service } from '../support/service.ts';
import {
  aDatabase,
  aDataDir,
  BOUND,
  get,
  isRunning,
  linesOf,
  NO_ANSWER,
  ofDatabase,
  pidsOf,
  twoWorkers,
} from './workers.ts';

/** Few, so that a replacement can start beside them on two cores. Half of them connect anew for each request. */
const LANES = 6;

/** Sends one request after the other on each lane. */
function startLoad(service: Service, secret: string) {
  const lost = new Map<string, string>();
  let answered = 0;
  let isOver = false;
  const runLane = async (lane: number): Promise<void> => {
    const agent = lane % 2 === 0 && new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; !isOver; i += 1) {
      const id = `lane-${lane}-${i}`;
      const result = await get(service, secret, id, agent).catch((error: Error) => error.message);
      if (result === 200) answered += 1;
      else lost.set(id, String(result));
    }
    if (agent !== false) agent.destroy();
  };
  const lanes = Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)));
  return {
    lost,
    /** Waits for 100 more answers. */
    async goOn(): Promise<void> {
      const before = answered;
      await expect.poll(() => answered, BOUND).toBeGreaterThan(before + 100);
    },
    async stop(): Promise<void> {
      isOver = true;
      await lanes;
    },
  };
}

describe.skipIf(!hasRedis || process.platform === 'win32')(
  'under load, of several workers',
  { timeout: 120_000 },
  () => {
    test('one that is killed loses only the requests that it was handling, and is replaced, with its jobs', async () => {
      const database = await aDatabase();
      const account = await database.anAccount();
      const key = await database.anApiKey(account, { scopes: ['teams:read', 'invites:write'] });
      const team = await database.aTeam({ owner: account });
      const dataDir = await aDataDir();
      const service = await twoWorkers(ofDatabase(database), dataDir);
      const [victim = 0] = pidsOf(service, 1);
      const [survivor = 0] = pidsOf(service, 2);
      const load = startLoad(service, key.secret);
      await load.goOn();

      process.kill(victim, 'SIGKILL');
      await expect.poll(() => pidsOf(service, 1).length, BOUND).toBe(2);
      await load.goOn();
      await load.stop();

      const bySurvivor = new Set(
        linesOf(service).flatMap(({ pid, clientRequestId }) => (pid === survivor ? [clientRequestId] : [])),
      );
      expect(bySurvivor.size).toBeGreaterThan(0);
      expect([...load.lost.keys()].filter((id) => bySurvivor.has(id))).toEqual([]);
      // Each lane has one connection at a time.
      const lanes = [...load.lost.keys()].map((id) => id.split('-')[1]);
      expect(lanes).toEqual([...new Set(lanes)]);
      expect([...load.lost.values()]).not.toContain(NO_ANSWER);
      expect(isRunning(survivor)).toBe(true);

      const client = createClient(service.port, undefined);
      onTestFinished(() => client.close());
      const path = `/api/v1/teams/${team.id}/invitations`;
      expect((await client.as(key).post(path, { email: 'new.colleague@example.com' })).status).toBe(201);
      const directory = join(dataDir, 'mail');
      await expect.poll(() => existsSync(directory) && readdirSync(directory).length > 0, BOUND).toBe(true);
    });

    test('one after another ends in order and is replaced: no request is lost, and the service stays ready', async () => {
      const database = await aDatabase();
      const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read'] });
      const service = await twoWorkers(ofDatabase(database));
      const load = startLoad(service, key.secret);
      await load.goOn();
      const readiness: number[] = [];
      let isOver = false;
      const probes = (async () => {
        while (!isOver)
          readiness.push((await fetch(`${service.url}/readyz`, { headers: { connection: 'close' } })).status);
      })();

      for (const worker of [1, 2]) {
        process.kill(pidsOf(service, worker)[0] ?? 0, 'SIGTERM');
        await expect.poll(() => pidsOf(service, worker).length, BOUND).toBe(2);
        await load.goOn();
      }
      isOver = true;
      await Promise.all([load.stop(), probes]);

      expect(Object.fromEntries(load.lost)).toEqual({});
      expect(new Set(readiness)).toEqual(new Set([200]));
      const ends = linesOf(service).filter(({ msg }) => msg === 'worker ended');
      expect(ends).toMatchObject([
        { worker: 1, code: 0 },
        { worker: 2, code: 0 },
      ]);
    });

    // Guarantees that the port accepts connections although no worker but the ending one listens.
    test('the last one that serves ends after a replacement of the others serves', async () => {
      const database = await aDatabase();
      const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read'] });
      const service = await twoWorkers(ofDatabase(database));
      const [first = 0] = pidsOf(service, 1);
      const [second = 0] = pidsOf(service, 2);

      process.kill(first, 'SIGKILL');
      await expect.poll(() => isRunning(first), BOUND).toBe(false);
      const load = startLoad(service, key.secret);
      process.kill(second, 'SIGTERM');
      await expect.poll(() => pidsOf(service, 2).length, BOUND).toBe(2);
      await load.goOn();
      await load.stop();

      expect(Object.fromEntries(load.lost)).toEqual({});
      expect(linesOf(service).filter(({ msg }) => msg === 'worker ended')).toMatchObject([
        { worker: 1, signal: 'SIGKILL' },
        { worker: 2, code: 0 },
      ]);
    });

    test('all that end alone at the same time do so one after another', async () => {
      const database = await aDatabase();
      const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read'] });
      const service = await twoWorkers(ofDatabase(database));
      const load = startLoad(service, key.secret);
      await load.goOn();

      for (const worker of [1, 2]) process.kill(pidsOf(service, worker)[0] ?? 0, 'SIGTERM');
      for (const worker of [1, 2]) await expect.poll(() => pidsOf(service, worker).length, BOUND).toBe(2);
      await load.goOn();
      await load.stop();

      expect(Object.fromEntries(load.lost)).toEqual({});
    });
  },
);
