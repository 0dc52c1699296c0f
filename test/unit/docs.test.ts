import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { LOCK_ORDER } from '../../src/transactions/lock-order.ts';
import { readConsoleRoutes } from '../support/console-routes.ts';
import { createEmptyDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('the documentation', () => {
  test('lists the paths of the console, for products on the same origin', () => {
    const [, listed = ''] = /^- Pages: (.*)$/m.exec(read('docs/going-to-production.md')) ?? [];
    const pages = readConsoleRoutes().map((path) => `/${path.split('/')[1] ?? ''}`);
    const expected = new Set(pages.filter((path) => path !== '/oauth')); // an interface
    expect([...listed.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path).toSorted()).toEqual(
      [...expected].toSorted(),
    );
  });

  test('lists the paths of the interfaces, for products on the same origin', () => {
    const page = read('docs/going-to-production.md');
    const lists = [...page.matchAll(/^- (?:Interfaces|Files and documents): (.*)$/gm)].map(([, list = '']) => list);
    const listed = [...lists.join().matchAll(/`(\/[^`/]+)/g)].map(([, path = '']) => path);
    const routes = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['src/web/**'] }).flatMap((file) =>
      [...read(file).matchAll(/\.(?:get|post|put|all|use)\(\s*\[?['`](\/[\w.-]+)/g)].map(([, path = '']) => path),
    );
    expect(routes).toContain('/trpc');
    expect(routes.filter((path) => path !== '/index.html' && !listed.includes(path))).toEqual([]);
  });

  // Guarantees that a query that forgets the team shows nothing, also on a connection that another team has used.
  test('shows how a product keeps the rows of teams apart', async () => {
    const page = read('docs/isolate-data.md');
    const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';
    const database = await createEmptyDatabase();
    const role = `product_${crypto.randomUUID().replaceAll('-', '')}`;
    const admin = new pg.Client(database.url);
    await admin.connect();
    await admin.query(`create role ${role}; create schema product authorization ${role}`);
    // One connection, which every request uses.
    const options = `-c role=${role} -c search_path=product`;
    const pool = new pg.Pool({ connectionString: database.url, options, max: 1 });
    try {
      await pool.query(block('sql'));
      await expect(pool.query('select from invoice')).rejects.toThrow('unrecognized configuration parameter');
      type InTeam = (
        teamId: string,
        work: (client: pg.PoolClient) => Promise<pg.QueryResult>,
      ) => Promise<pg.QueryResult>;
      const inTeam = runInNewContext(`${stripTypeScriptTypes(block('ts'))}; inTeam`, { pool }) as InTeam;
      await inTeam('team_a', (client) => client.query('insert into invoice (amount) values (1)'));
      await inTeam('team_b', (client) => client.query('insert into invoice (amount) values (2)'));
      const { rows } = await inTeam('team_a', (client) => client.query('select team_id, amount from invoice'));
      expect(rows).toEqual([{ team_id: 'team_a', amount: '1' }]);
      const foreign = `insert into invoice (team_id, amount) values ('team_b', 3)`;
      await expect(inTeam('team_a', (client) => client.query(foreign))).rejects.toThrow('row-level security');
      expect((await pool.query('select from invoice')).rowCount).toBe(0);
      expect((await pool.query('delete from invoice')).rowCount).toBe(0);
      await expect(pool.query('insert into invoice (amount) values (4)')).rejects.toThrow(/null value|row-level/);
    } finally {
      await pool.end();
      await admin.query(`drop schema product cascade; drop role ${role}`);
      await admin.end();
      await database.drop();
    }
  });

  test('names the tables of the lock order, in their order', () => {
    const [, listed = ''] =
      /the order of `LOCK_ORDER` in `src\/transactions\/lock-order\.ts`: ([^;]+);/.exec(read('docs/guarantees.md')) ??
      [];
    const tables = listed.split(', ').map((table) => table.toLowerCase().replaceAll(' ', '_'));
    expect(tables).toEqual([...LOCK_ORDER]);
  });
});
