import { expect } from 'vitest';
import { startApi, test } from '../support/api.ts';

// Guarantees that of two versions side by side during an upgrade both serve, and neither before its tables are there.
test('a replica created with all migrations of its version, later ones or not', async () => {
  const api = await startApi();
  const look = async () => {
    const { status, body } = await api.anonymous.get('/readyz');
    return [status, body.reason ?? body.status];
  };
  const pending = [503, 'migrations are pending'];

  expect(await look()).toEqual([200, 'ready']);
  await api.rows(`insert into mikro_orm_migrations (name) values ('Migration29991231000000_later')`);
  expect(await look()).toEqual([200, 'ready']);
  await api.rows(`delete from mikro_orm_migrations where name = (select min(name) from mikro_orm_migrations)`);
  expect(await look()).toEqual(pending);
  await api.rows('drop table mikro_orm_migrations');
  expect(await look()).toEqual(pending);
  await api.close();
});
