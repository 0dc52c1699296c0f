import { query, type QueryRunner } from '../db/query.ts';

type Row = { state: string; count: number; ageSeconds: number };

const STATES = ['ready', 'running', 'scheduled', 'retrying', 'spent'];

const jobsByState = query<Row>(
  'job_count_by_state',
  `select state, count(*)::int as count, extract(epoch from now() - min(run_at))::float8 as "ageSeconds"
   from (
     select run_at, case
       when locked_at is not null then 'running'
       when attempts >= max_attempts then 'spent'
       when run_at <= now() then 'ready'
       when attempts > 0 then 'retrying'
       else 'scheduled'
     end as state
     from graphile_worker.jobs
   ) as job
   group by state`,
  { rows: 'many' },
);

/** Counts the jobs in each state, including zero, with the age of the oldest. */
export async function countJobs(db: QueryRunner): Promise<readonly Row[]> {
  const rows = await db.query(jobsByState, []);
  return STATES.map((state) => rows.find((row) => row.state === state) ?? { state, count: 0, ageSeconds: 0 });
}
