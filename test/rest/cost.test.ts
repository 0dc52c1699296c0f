import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApi } from '../support/api.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

const READS = OPERATIONS.filter(({ method }) => method === 'GET');

/** The SQL that is sent, and the number of calls of Redis, from now on. */
function watch() {
  const queries = vi.spyOn(pg.Client.prototype, 'query');
  const commands = vi.spyOn(Redis.prototype, 'sendCommand');
  return {
    statements: () =>
      queries.mock.calls.map(([query]: unknown[]) =>
        typeof query === 'string' ? query : (query as { text: string }).text,
      ), // pg takes either
    redisCalls: () => commands.mock.calls.length,
  };
}

// Guarantees the cost that the README promises; a statement more on the request path fails here.
describe.skipIf(!hasRedis)('the cost of a read', () => {
  test.for(READS)('$id: two statements and one call of Redis at most, and no write', async ({ path }) => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const api = await startApi({ REDIS_URL: redis.url });
    onTestFinished(() => api.close());
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
    const target = path.replace('{teamId}', team.id);
    // The first request of a process makes connections and loads what Redis runs.
    await api.as(key).get(target);

    const seen = watch();
    const { status } = await api.as(key).get(target);

    expect(status).toBe(200);
    expect(seen.statements().length, seen.statements().join('\n')).toBeLessThanOrEqual(2);
    expect(seen.statements().filter((text) => !/^\s*(with|select)\b/i.test(text))).toEqual([]);
    expect(seen.redisCalls()).toBeLessThanOrEqual(1);
  });

  test('listing the keys of a team costs no more', async () => {
    const api = await startApi();
    onTestFinished(() => api.close());
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['api-keys:read'] });

    const seen = watch();
    const { status } = await api.as(key).get(`/api/v1/api-keys?teamId=${team.id}`);

    expect(status).toBe(200);
    expect(seen.statements()).toHaveLength(2);
  });

  // Guarantees that a flood of invented keys costs the database nothing.
  test('a string that is no secret of ours is refused without a statement', async () => {
    const api = await startApi();
    onTestFinished(() => api.close());

    const seen = watch();
    const answer = await api.as('rst_pk_invented').get('/api/v1/teams');

    expect(answer).toBeProblem('credential_invalid');
    expect(seen.statements()).toEqual([]);
  });
});
