import { expect, vi } from 'vitest';
import { startApi, test } from '../support/api.ts';
import { PATIENCE_MS } from '../support/patience.ts';

// Guarantees that of two versions side by side during an upgrade both serve, and neither before its tables are there.
test('a replica created with all migrations of its version, later ones or not', async () => {
  const api = await startApi();
  const look = async () => {
    const { status, body } = await api.anonymous.get('/readyz');
    return [status, body.reason ?? body.status];
  };
  // A result is kept for a second.
  const afterNextCheck = { timeout: PATIENCE_MS };
  const pending = [503, 'migrations are pending'];

  expect(await look()).toEqual([200, 'ready']);
  await api.rows(`delete from mikro_orm_migrations where name = (select min(name) from mikro_orm_migrations)`);
  await expect.poll(look, afterNextCheck).toEqual(pending);
  await api.rows('drop table mikro_orm_migrations');
  expect(await look()).toEqual(pending);
  await api.close();
});

test('a replica is ready with migrations of a later version', async () => {
  const api = await startApi();
  await api.rows(`insert into mikro_orm_migrations (name) values ('Migration29991231000000_later')`);

  expect((await api.anonymous.get('/readyz')).body).toEqual({ status: 'ready' });
  await api.close();
});

test('a flood of /readyz asks the database at most once a second', async () => {
  const api = await startApi();
  const query = vi.spyOn(api.services.db, 'query');
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 200 }, () => api.anonymous.get('/readyz')));
  const seconds = (performance.now() - startedAt) / 1000;

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(query.mock.calls.length).toBeGreaterThanOrEqual(1);
  expect(query.mock.calls.length).toBeLessThanOrEqual(1 + Math.ceil(seconds));
  await api.close();
});
