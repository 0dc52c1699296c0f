import type { OpenSteps } from '../../db/pipeline/open-transaction.ts';
import { query } from '../../db/query.ts';

const longestOfClients = query<{ days: number | null }>(
  'oauth_client_find_session_days',
  'select max(session_days) as days from oauth_client where session_days is not null',
);

/** Returns how many days a session can last: those of the installation, or of a client that prolongs it. */
export async function longestSession(run: OpenSteps['run'], days: number): Promise<number> {
  const [[row]] = await run([[longestOfClients, []]]);
  return Math.max(days, row?.days ?? 0);
}
