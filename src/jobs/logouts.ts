import { ATTEMPTS_MAX, PRIORITY } from './enqueue.ts';

/**
 * Returns the statement that queues a job for each client that has to be told that sessions ended (OpenID Connect
 * Back-Channel Logout 1.0), in the transaction in which they end. The jobs of a client run one after the other, so that
 * one whose server hangs holds one worker.
 * @param ended what selects the ended sessions, with their `id`
 */
export const logoutJobs = (ended: string): string =>
  `select count((graphile_worker.add_job('sendLogout',
       payload := json_build_object('sessionId', told.session_id, 'accountId', told.account_id, 'clientId', told.client_id),
       queue_name := 'logout:' || told.client_id, job_key := 'logout:' || told.session_id || ':' || told.client_id,
       priority := ${PRIORITY.sendLogout}, max_attempts := ${ATTEMPTS_MAX})).id) as told
   from (
     select distinct f.session_id, f.account_id, f.client_id
     from (${ended}) ended
     cross join lateral (
       -- PostgreSQL would read all logins, because it does not know how few sessions ended.
       select session_id, account_id, client_id from oauth_token_family where session_id = ended.id offset 0
     ) f
     join oauth_client c on c.id = f.client_id and c.backchannel_logout_uri is not null and c.deleted_at is null
   ) told`;
