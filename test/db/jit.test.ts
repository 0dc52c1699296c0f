import { describe, expect, onTestFinished } from 'vitest';
import { withPooler } from '../../src/config/database-url.ts';
import { createClient, createPool, type ConnectionOptions } from '../../src/db/connection/connection.ts';
import { ADVISORY_LOCKS } from '../../src/db/advisory-locks.ts';
import { query } from '../../src/db/query.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openOwnConnection } from '../../src/exports/own-connection.ts';
import { test, type Api } from '../support/api.ts';

const SHOW_JIT = query<{ jit: string }>('test_show_jit', 'show jit', { rows: 'many' });

/** How each part of the service connects. */
const KINDS: Readonly<Record<string, ConnectionOptions>> = {
  'backups and restores': { purpose: 'backup' },
  'jobs, with a time limit': { purpose: 'worker', connectMs: 2000, statementMs: 5000, lockMs: 1000 },
  migrations: { purpose: 'migration', connectMs: 2000 },
  'numbering and webhooks': { purpose: 'events', statementMs: 5000, pipeline: true },
};

/** As the URL has them, which a server that compiles by default would not. */
const urlsOf = ({ databaseUrl }: Api) =>
  (['none', 'session', 'transaction', 'prepared'] as const).map((pooler) => withPooler(databaseUrl, pooler));

// PostgreSQL compiles statements by default, which takes it seconds for those of the service.
describe('no connection lets PostgreSQL compile statements', () => {
  test.for(Object.entries(KINDS))('of %s', async ([, options], { api }) => {
    for (const url of urlsOf(api)) {
      const client = createClient(url, options);
      await client.connect();
      onTestFinished(() => client.end());
      expect((await client.query<{ jit: string }>('show jit')).rows, url).toEqual([{ jit: 'off' }]);
      await client.query('begin');
      expect((await client.query<{ jit: string }>('show jit')).rows, url).toEqual([{ jit: 'off' }]);
      await client.query('commit');

      const pool = createPool(url, { ...options, max: 1 });
      onTestFinished(() => pool.end());
      expect((await pool.query<{ jit: string }>('show jit')).rows, url).toEqual([{ jit: 'off' }]);
    }
  });

  test('of requests, commands and exports', async ({ api }) => {
    for (const url of urlsOf(api)) {
      const db = await openDatabase(url, 3);
      onTestFinished(() => db.close());
      for (const [name, pool] of Object.entries(db.pools))
        expect((await pool.query<{ jit: string }>('show jit')).rows, `${name} ${url}`).toEqual([{ jit: 'off' }]);
      expect(await db.orm.em.fork().execute('show jit')).toEqual([{ jit: 'off' }]);

      const own = await openOwnConnection(url, 'export', [ADVISORY_LOCKS.operatorExport, url]);
      onTestFinished(() => own?.close());
      expect(await own?.query(SHOW_JIT, [])).toEqual([{ jit: 'off' }]);
    }
  });

  test('but where the operator wants it', async ({ api }) => {
    for (const url of urlsOf(api)) {
      const client = createClient(`${url}&options=-c%20jit%3Don`, { purpose: 'backup' });
      await client.connect();
      onTestFinished(() => client.end());
      expect((await client.query<{ jit: string }>('show jit')).rows, url).toEqual([{ jit: 'on' }]);
    }
  });
});
