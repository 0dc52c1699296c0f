import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import {
  CONNECTION_EVENTS,
  getPgConnection,
  PG_INTERNALS,
  PgQuery,
  poolInternals,
} from '../../src/db/pipeline/pg-internals.ts';
import { query } from '../../src/db/query.ts';
import { test, type Api } from '../support/api.ts';

/** The types of the members that are named. */
const typesOf = (object: object, names: object) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, typeof Reflect.get(object, name)]));

// Guarantees that an update of pg that changes what this service relies on fails by the name of what changed.
test('pg has each internal that this service uses', async ({ api }) => {
  const pool = api.services.db.pools.reads;
  const client = await pool.connect();
  try {
    const connection = getPgConnection(client);
    expect({
      connection: typesOf(connection, PG_INTERNALS.connection),
      client: typesOf(client, PG_INTERNALS.client),
      pool: typesOf(poolInternals(pool), PG_INTERNALS.pool),
      query: typesOf(new PgQuery('select 1'), PG_INTERNALS.query),
    }).toEqual(PG_INTERNALS);
    expect(typeof connection.stream.cork).toBe('function');
    expect(typeof connection.stream.uncork).toBe('function');
    expect(typeof client.getTypeParser).toBe('function');
  } finally {
    client.release();
  }
});

test('a connection of pg emits each event that this service listens to, with what it reads from it', async ({
  api,
}: {
  api: Api;
}) => {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  const connection = getPgConnection(client);
  const [events, codes, parameters]: [string[], unknown[], Map<string, string>] = [[], [], new Map()];
  for (const event of CONNECTION_EVENTS) connection.on(event, () => void events.push(event));
  connection.on('errorMessage', ({ code }) => void codes.push(code));
  connection.on('parameterStatus', (status) => void parameters.set(status.parameterName, status.parameterValue));

  await client.connect();
  await expect(client.query('select 1 / 0')).rejects.toThrow('division by zero');
  await client.end();

  expect([...new Set(events)].toSorted()).toEqual(['connect', 'end', 'errorMessage', 'parameterStatus']);
  expect(codes).toEqual(['22012']);
  expect(parameters.get('in_hot_standby')).toBe('off');
  // The other two, of TLS and broken connections, are those that the client of pg listens to.
  const listeners = client.connection as unknown as NodeJS.EventEmitter;
  for (const event of CONNECTION_EVENTS.filter((name) => !events.includes(name)))
    expect([event, listeners.listenerCount(event) > 1]).toEqual([event, true]);
});

test('the query class and the events of pg are used where their internals are listed alone', () => {
  const root = join(import.meta.dirname, '../../src');
  const files = globSync('**/*.ts', { cwd: root, exclude: ['web/**'] });
  const using = files.filter((file) =>
    /\bpg\.Query\b|'Query'|\bclient\.connection\.on\(|this\.connection\.on\(/.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  );
  expect(using).toEqual(['db/pipeline/pg-internals.ts']);
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
