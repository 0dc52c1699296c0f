import { expect, onTestFinished, test } from 'vitest';
import { detectPooler } from '../../src/db/pooler/detect.ts';
import { run } from '../cli/roster.ts';
import { createTestDatabase } from '../support/database.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { freePort } from '../support/free-port.ts';
import { launchService, makeDataDir, removeDataDir } from '../support/service.ts';
import { describeBehind } from './behind-pooler.ts';
import { printTable } from './table.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

printTable();

if (hasPgBouncer) {
  // Each connection of both replicas needs one to the server.
  describeBehind('session mode', { mode: 'session', size: 50 }, 'in session mode');
  describeBehind(
    'transaction mode',
    { mode: 'transaction', size: 4 },
    'in transaction mode, without prepared statements; jobs are found by polling',
  );
}

test.skipIf(!hasPgBouncer)(
  'with DATABASE_MIGRATION_URL, notifications start jobs at once behind a pooler in transaction mode',
  async () => {
    const database = await createTestDatabase();
    const bouncer = await startPgBouncer(database.url, { mode: 'transaction', size: 2 });
    onTestFinished(async () => {
      await bouncer.stop();
      await database.drop();
    });
    const env = { DATABASE_URL: bouncer.url, DATABASE_MIGRATION_URL: database.url, SECRET_KEYS };

    const { stdout } = await run(env, ['doctor']);
    const { stdout: wrong } = await run({ ...env, DATABASE_MIGRATION_URL: bouncer.url }, ['doctor']);

    expect(stdout).toMatch(/^ok +pooler +in transaction mode, without prepared statements$/m);
    expect(wrong).toMatch(/^FAILED +pooler +DATABASE_MIGRATION_URL leads through a pooler/m);
  },
);

test.skipIf(!hasPgBouncer)('a start that is told of no pooler behind one fails in one line', async () => {
  const database = await createTestDatabase();
  const bouncer = await startPgBouncer(database.url, { mode: 'transaction', size: 2 });
  const dataDir = makeDataDir();
  onTestFinished(async () => {
    await removeDataDir(dataDir);
    await bouncer.stop();
    await database.drop();
  });
  const env = { DATABASE_URL: bouncer.url, DATABASE_POOLER: 'none', SECRET_KEYS, PORT: String(await freePort()) };
  const service = launchService({ dataDir, env });

  expect(await service.exited).toMatchObject({ code: 1 });
  expect(service.complaint()).toMatch(
    /^roster: DATABASE_URL: the connection pooler at \S+ refuses the parameter options: [^\n]+\n$/,
  );
});

test.skipIf(!hasPgBouncer)('processes that start together behind a pooler all find out its mode', async () => {
  const database = await createTestDatabase();
  const bouncers = await Promise.all([
    startPgBouncer(database.url, { mode: 'transaction', size: 6 }),
    startPgBouncer(database.url, { mode: 'transaction', size: 6, settings: ['server_round_robin = 1'] }),
    startPgBouncer(database.url, { mode: 'session', size: 24 }),
  ]);
  onTestFinished(async () => {
    await Promise.all(bouncers.map((bouncer) => bouncer.stop()));
    await database.drop();
  });

  const found = await Promise.all(
    bouncers.map(({ url }) => Promise.all(Array.from({ length: 10 }, () => detectPooler(url)))),
  );

  expect(found.map((each) => [...new Set(each)])).toEqual([['transaction'], ['transaction'], ['session']]);
});
