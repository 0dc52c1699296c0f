/**
 * Private tables of graphile-worker, named in this file only. Its public functions add, reschedule and complete
 * jobs; they can neither list payloads nor delete a job in the transaction of a change.
 */
export const QUEUE_JOBS = 'graphile_worker._private_jobs';
export const QUEUE_TASKS = 'graphile_worker._private_tasks';
