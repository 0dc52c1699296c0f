import { expect, onTestFinished, test, vi } from 'vitest';
import { startApi, type Api } from '../support/api.ts';

/** A service whose timers run when the test says so; clocks and network are real. */
async function aService(): Promise<Api> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const api = await startApi();
  onTestFinished(() => api.close());
  return api;
}

// Guarantees that these are written while the service runs, and not only when it stops.
test('last uses are written within a minute, by a timer', async () => {
  const api = await aService();
  const key = await api.anApiKey(await api.anAccount());
  expect((await api.as(key).get('/api/v1/teams')).status).toBe(200);
  const used = () => api.rows('select from api_key where id = $1 and last_used_at is not null', [key.id]);
  expect(await used()).toEqual([]);

  vi.advanceTimersByTime(60_000);

  await expect.poll(used).toHaveLength(1);
});

test('denials are written a minute later, by a timer', async () => {
  const api = await aService();
  expect((await api.as('rst_pk_invented').get('/api/v1/teams')).status).toBe(401);
  const written = () => api.rows(`select from audit_event where details->>'reason' = 'credential_invalid'`);
  expect(await written()).toEqual([]);

  vi.advanceTimersByTime(60_000);

  await expect.poll(written).toHaveLength(1);
});
