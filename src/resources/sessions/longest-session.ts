import type { OpenSteps } from '../../db/pipeline/open-transaction.ts';
import { query } from '../../db/query.ts';

const longestOfClients = query<{ days: number | null; now: string }>(
  'oauth_client_find_session_days',
  'select max(session_days) as days, now() as now from oauth_client where session_days is not null',
);

/**
 * Returns how many days a session can last, those of the installation or of a client that prolongs it, and the time at which
 * it begins: that of the database, which decides about its end and its proofs.
 */
export async function longestSession(run: OpenSteps['run'], days: number): Promise<{ days: number; now: Date }> {
  const [[row = { days: null, now: '' }]] = await run([[longestOfClients, []]]); // the maximum is in one row
  return { days: Math.max(days, row.days ?? 0), now: new Date(row.now) };
}
