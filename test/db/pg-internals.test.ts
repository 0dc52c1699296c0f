import { expect } from 'vitest';
import { getPgConnection, PG_INTERNALS } from '../../src/db/pg-internals.ts';
import { query } from '../../src/db/query.ts';
import { test } from '../support/api.ts';

// Guarantees that an update of pg that changes what this service relies on fails by the name of what changed.
test('pg has each internal that this service uses', async ({ api }) => {
  const client = await api.services.db.pools.reads.connect();
  try {
    const connection = getPgConnection(client);
    const found = Object.fromEntries(
      Object.keys(PG_INTERNALS).map((name) => [name, typeof connection[name as keyof typeof PG_INTERNALS]]),
    );
    expect(found).toEqual(PG_INTERNALS);
    expect(typeof connection.stream.cork).toBe('function');
    expect(typeof connection.stream.uncork).toBe('function');
    expect(typeof client.getTypeParser).toBe('function');
  } finally {
    client.release();
  }
});

test('pg counts a statement as prepared once PostgreSQL has parsed it', async ({ api }) => {
  const text = 'select 1 as one';
  expect(await api.services.db.query(query<{ one: number }>('test_prepared', text), [])).toEqual([{ one: 1 }]);

  const clients = await Promise.all(
    Array.from({ length: api.services.db.pools.reads.totalCount }, () => api.services.db.pools.reads.connect()),
  );
  const prepared = clients.map((client) => getPgConnection(client).parsedStatements['test_prepared']);
  for (const client of clients) client.release();

  expect(prepared).toContain(text);
});
