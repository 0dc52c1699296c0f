import { readFileSync } from 'node:fs';
import type { Attempts } from '../../rate-limit/attempts.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';

const { version } = JSON.parse(readFileSync(`${import.meta.dirname}/../../../package.json`, 'utf8')) as {
  version: string; // our own manifest
};

const FAILURES_MAX = 10;
const REASON_LENGTH_MAX = 300;

type QueueRow = { waiting: number; running: number; failed: number };
type FailureRow = {
  id: string;
  task: string;
  attempts: number;
  max_attempts: number;
  run_at: string;
  reason: string;
};

const databaseVersion = query<{ version: string }>(
  'database_find_version',
  `select current_setting('server_version') as version`,
);

// Failed jobs that wait for their next attempt. This view does not contain payloads.
const FAILED = 'locked_at is null and last_error is not null';

const queueState = query<QueueRow>(
  'job_count',
  `select count(*) filter (where locked_at is null and last_error is null)::int as waiting,
     count(*) filter (where locked_at is not null)::int as running,
     count(*) filter (where ${FAILED})::int as failed
   from graphile_worker.jobs`,
  { rows: 'many' },
);

const queueFailures = query<FailureRow>(
  'job_list_failed',
  `select id::text, task_identifier as task, attempts, max_attempts, run_at,
     left(split_part(last_error, E'\\n', 1), ${REASON_LENGTH_MAX}) as reason
   from graphile_worker.jobs where ${FAILED}
   order by updated_at desc, id desc limit ${FAILURES_MAX}`,
  { rows: 'many' },
);

/** Returns the state of this process, PostgreSQL, Redis and the queue. Without PostgreSQL the call itself is a 503. */
export async function getHealth(db: QueryRunner, attempts: Attempts) {
  const askedAt = performance.now();
  const [server] = await db.query(databaseVersion, []);
  const latencyMs = Math.round((performance.now() - askedAt) * 10) / 10;
  const [[queue], failures, isShared] = await Promise.all([
    db.query(queueState, []),
    db.query(queueFailures, []),
    attempts.isShared(),
  ]);
  return {
    version,
    uptimeSeconds: Math.floor(process.uptime()),
    database: { version: server?.version ?? '', latencyMs },
    redis: isShared === null ? ('none' as const) : isShared ? ('reachable' as const) : ('unreachable' as const),
    jobs: {
      waiting: queue?.waiting ?? 0,
      running: queue?.running ?? 0,
      failed: queue?.failed ?? 0,
      failures: failures.map((row) => ({
        id: row.id,
        task: row.task,
        attempts: row.attempts,
        attemptsMax: row.max_attempts,
        nextAt: iso(row.run_at),
        reason: row.reason,
      })),
    },
  };
}
