import { query } from '../../db/query.ts';
import { newId } from '../../entities/index.ts';
import { ATTEMPTS_MAX, type Jobs } from '../../jobs/enqueue.ts';
import type { JobHelpers, TaskList } from '../../jobs/worker.ts';
import type { Network } from '../../outbound/network.ts';
import { sendOutbound } from '../../outbound/request.ts';
import type { Services } from '../../service/services.ts';
import { errorSummary, type Log } from '../../telemetry/log.ts';
import { SECOND_MS } from '../../time.ts';
import { networkOf } from '../../webhooks/endpoint-network.ts';
import { signClaims } from './signing-keys.ts';

/** How the attempts to tell a client that a session ended can end, for metrics. */
export type LogoutOutcome = 'delivered' | 'retried' | 'failed';

/** The limit of one request. Its job holds a worker meanwhile. */
const TIMEOUT_MS = 5 * SECOND_MS;
const TOKEN_SECONDS = 120;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const findUri = query<{ uri: string | null }>(
  'oauth_client_find_logout',
  'select backchannel_logout_uri as uri from oauth_client where id = $1 and deleted_at is null',
);

/** The task that tells clients that sessions ended, for the worker. */
export const logoutTasks = (services: Services, log: Log, count: (outcome: LogoutOutcome) => void): TaskList => ({
  sendLogout: (data, helpers) => sendLogout(services, log, count, data as Jobs['sendLogout'], helpers), // as `logoutJobs` wrote it
});

/** Makes one attempt. What fails for the last time is logged and given up: the tokens of the session have ended anyway. */
async function sendLogout(
  services: Services,
  log: Log,
  count: (outcome: LogoutOutcome) => void,
  { sessionId, accountId, clientId }: Jobs['sendLogout'],
  { job, abortSignal }: JobHelpers,
): Promise<void> {
  const [client] = await services.db.query(findUri, [clientId]);
  if (!client?.uri) return;
  try {
    const token = await createLogoutToken(services, { sub: accountId, sid: sessionId, aud: clientId });
    // As endpoints of the operator, who sets both.
    await postLogout(client.uri, token, networkOf(services.config, null), abortSignal);
    count('delivered');
  } catch (error) {
    const reason = errorSummary(error);
    const isLast = job.attempts >= Math.min(job.max_attempts, ATTEMPTS_MAX);
    // A worker that stops leaves the attempt to another.
    if (!abortSignal?.aborted) count(isLast ? 'failed' : 'retried');
    if (!isLast) throw new Error(reason);
    log.error({ job: job.id, clientId, sessionId, reason }, 'logout delivery failed permanently');
  }
}

/** Sends a logout token. @throws if the application does not answer with success */
export async function postLogout(
  uri: string,
  token: string,
  network: Network,
  signal: AbortSignal | undefined,
): Promise<void> {
  const status = await sendOutbound(
    new URL(uri),
    {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'Roster-Logout/1.0',
        accept: '*/*',
        'accept-encoding': 'identity',
      },
      body: new URLSearchParams({ logout_token: token }).toString(),
      timeoutMs: TIMEOUT_MS,
      signal,
      read: ({ statusCode = 0 }) => Promise.resolve(statusCode),
    },
    network,
  );
  if (status < 200 || status > 299) throw new Error(`The application answered ${status}.`);
}

/** Creates a logout token (Back-Channel Logout, section 2.4). Each attempt has its own, whose time is right. */
function createLogoutToken(services: Services, claims: object): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const token = {
    iss: services.config.baseUrl,
    ...claims,
    iat: now,
    exp: now + TOKEN_SECONDS,
    jti: newId('lgt'),
    events: { [EVENT]: {} },
  };
  return signClaims(services, token, 'logout+jwt');
}
