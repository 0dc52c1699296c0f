import { Router } from 'express';
import type { Database } from '../db/database.ts';
import { knownMigrations } from '../db/migrate.ts';
import { query } from '../db/query.ts';

const findMigrations = query<{ name: string }>('find_migrations', 'select name from mikro_orm_migrations');

/** Whether this process should get traffic: turns false when it begins to drain. */
export type Readiness = { ready: boolean };

/** `GET /healthz` says that the process runs; `GET /readyz` that it can serve: database reachable and migrated, not draining. */
export function healthPages(db: Database, readiness: Readiness): Router {
  const pages = Router();
  pages.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  pages.get('/readyz', async (_req, res) => {
    const problem = readiness.ready ? await databaseProblem(db) : 'draining';
    res
      .status(problem === null ? 200 : 503)
      .json(problem === null ? { status: 'ready' } : { status: 'unavailable', reason: problem });
  });
  return pages;
}

const KNOWN = knownMigrations();

/** By a statement of our own: at each look the ORM's migrator makes an entity that is never given back. */
async function databaseProblem(db: Database): Promise<string | null> {
  try {
    const applied = new Set((await db.query(findMigrations, [])).map(({ name }) => name));
    return KNOWN.every((name) => applied.has(name)) ? null : PENDING;
  } catch (error) {
    return isTableMissing(error) ? PENDING : 'the database cannot be reached';
  }
}

const PENDING = 'migrations are pending';

const isTableMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '42P01';
