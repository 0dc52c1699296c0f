import type * as crypto from 'node:crypto';
import { vi } from 'vitest';
import type * as ids from '../../src/entities/base.ts';
import type * as health from '../../src/resources/operator/health.queries.ts';
import { nextUuid } from './seeded.ts';

// What a picture shows of ids and secrets, such as the colors of teams, is the same in every run.
vi.mock('../../src/entities/base.ts', async (load) => ({
  ...(await load<typeof ids>()),
  newId: (await import('./seeded.ts')).nextId,
}));
vi.mock('@oslojs/crypto/random', async () => {
  const { nextString } = await import('./seeded.ts');
  return {
    generateRandomString: (_random: unknown, alphabet: string, length: number) => nextString(alphabet, length),
  };
});
vi.mock('node:crypto', async (load) => ({
  ...(await load<typeof crypto>()),
  randomBytes: (await import('./seeded.ts')).nextBytes,
  // The ids of requests, which arrive in any order.
  randomUUID: () => '00000000-0000-4000-8000-000000000000',
}));
vi.mock('../../src/resources/operator/health.queries.ts', async (load) => {
  const { getHealth, ...others } = await load<typeof health>();
  return {
    ...others,
    getHealth: async (...args: Parameters<typeof getHealth>) => {
      const { database, ...health } = await getHealth(...args);
      return { ...health, uptimeSeconds: 240, database: { ...database, latencyMs: 1 } };
    },
  };
});
Object.defineProperty(globalThis.crypto, 'randomUUID', { value: nextUuid });
