import { Router } from 'express';
import type { Database } from '../db/database.ts';

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

async function databaseProblem(db: Database): Promise<string | null> {
  try {
    const pending = await db.orm.migrator.getPending();
    return pending.length === 0 ? null : 'migrations are pending';
  } catch {
    return 'the database cannot be reached';
  }
}
