import { Router } from 'express';
import type { Database } from '../db/database.ts';
import { knownMigrations } from '../db/migrate.ts';
import { query } from '../db/query.ts';
import { SECOND_MS } from '../time.ts';

// Through a pooler, the server can become a standby without a lost connection.
const findMigrations = query<{ name: string; isReadOnly: boolean }>(
  'database_list_migrations',
  `select name, current_setting('transaction_read_only') = 'on' as "isReadOnly" from mikro_orm_migrations`,
);

/**
 * `ready`: whether this replica should get traffic; false once it drains. `isEnding`: whether this process closes each
 * connection after the next response, so that its client goes to another process.
 */
export type Readiness = { ready: boolean; isEnding?: boolean };

/** `GET /healthz`: the process runs. `GET /readyz`: it can serve, so the database is reachable, writable and migrated, and it does not drain. */
export function healthPages(db: Database, readiness: Readiness): Router {
  const pages = Router();
  const findProblem = atMostEvery(ASK_MS, () => findDatabaseProblem(db));
  pages.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  pages.get('/readyz', async (_req, res) => {
    const problem = readiness.ready ? await findProblem() : 'draining';
    res
      .status(problem === null ? 200 : 503)
      .json(problem === null ? { status: 'ready' } : { status: 'unavailable', reason: problem });
  });
  return pages;
}

/** At most one query per second, however often probes ask. */
const ASK_MS = SECOND_MS;

const KNOWN = knownMigrations();

/** Shares each result for a time, so that requests without a credential cannot load the database. */
function atMostEvery<Result>(ms: number, ask: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly at: number; readonly result: Promise<Result> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at >= ms) last = { at: now, result: ask() };
    return last.result;
  };
}

/** Uses its own statement, because the ORM's migrator creates an entity per call that is never released. */
async function findDatabaseProblem(db: Database): Promise<string | null> {
  try {
    const migrations = await db.query(findMigrations, []);
    if (migrations.some(({ isReadOnly }) => isReadOnly)) return READ_ONLY;
    const applied = new Set(migrations.map(({ name }) => name));
    return KNOWN.every((name) => applied.has(name)) ? null : PENDING;
  } catch (error) {
    return PROBLEM_BY_STATE[error instanceof Error && 'code' in error ? String(error.code) : ''] ?? UNREACHABLE;
  }
}

const UNREACHABLE = 'the database cannot be reached';
const READ_ONLY = 'the database is read-only';
const PENDING = 'migrations are pending';

/** By SQLSTATE: a server that accepts no writes, a table that does not exist. */
const PROBLEM_BY_STATE: Readonly<Record<string, string>> = { '25006': READ_ONLY, '42P01': PENDING };
