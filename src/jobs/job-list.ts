import { iso, command, query, type QueryRunner } from '../db/query.ts';
import { QUEUE_JOBS, QUEUE_TASKS } from '../db/queue-tables.ts';
import { change } from '../transactions/change.ts';
import type { TransactionScope } from '../transactions/steps.ts';

const REASON_LENGTH_MAX = 300;

/** The states of jobs that are not done. `failed` ones wait for their next attempt, or have used up all of them. */
export const JOB_STATES = ['waiting', 'running', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

type Row = {
  id: string;
  task: string;
  kind: string | null;
  subject_id: string | null;
  attempts: number;
  max_attempts: number;
  run_at: string;
  state: JobState;
  reason: string | null;
};

const STATE = `case when j.locked_at is not null then 'running' when j.last_error is not null then 'failed' else 'waiting' end`;

// Without payloads, which contain addresses and encrypted tokens.
const jobPage = query<Row>(
  'job_list',
  `select j.id::text, t.identifier as task, j.payload->>'kind' as kind,
     coalesce(j.payload->>'accountId', j.payload->>'invitationId') as subject_id, j.attempts::int, j.max_attempts::int,
     j.run_at, ${STATE} as state, left(split_part(j.last_error, E'\\n', 1), ${REASON_LENGTH_MAX}) as reason
   from ${QUEUE_JOBS} j join ${QUEUE_TASKS} t on t.id = j.task_id
   where j.id > $1::bigint and ($2 = '' or ${STATE} = $2)
   order by j.id limit $3`,
  { rows: 'many' },
);

/** Lists the jobs that are not done, oldest first, after a job. */
export async function listJobs(db: QueryRunner, state: JobState | undefined, after: string, limit: number) {
  const rows = await db.query(jobPage, [after, state ?? '', limit]);
  return rows.map((row) => ({
    id: row.id,
    task: row.task,
    kind: row.kind,
    subjectId: row.subject_id,
    attempts: row.attempts,
    attemptsMax: row.max_attempts,
    nextAt: iso(row.run_at),
    state: row.state,
    reason: row.reason,
  }));
}

const retryJobs = command<object>(
  'job_update_failed',
  `select id from graphile_worker.reschedule_jobs(
     array(select j.id from ${QUEUE_JOBS} j
           where j.locked_at is null and j.last_error is not null and ($1::bigint is null or j.id = $1::bigint)),
     run_at := now(), attempts := 0)`,
);

/**
 * Runs failed jobs now, with the full number of attempts. Skips jobs that run.
 * @param id one job, or null for all
 * @returns their number
 */
export const retryFailedJobs = (db: TransactionScope, id: string | null): Promise<number> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
    const [rows] = await tx.run([[retryJobs, [id]]]);
    if (rows.length > 0) tx.record('operator.jobs_retried', { number: rows.length });
    return rows.length;
  });
