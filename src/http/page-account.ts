import type { IncomingMessage } from 'node:http';
import type { Authentication } from '../auth/authenticate.ts';
import { ProblemError } from '../problems/error.ts';

/**
 * Rejects calls of a page that shows another account than the session’s: a tab that was left open, while another
 * tab of the browser signed in as someone else, must not change that one’s data.
 */
export function checkAccount({ headers }: IncomingMessage, { principal }: Authentication): ProblemError | null {
  const account = headers['x-roster-account'];
  const hasChanged = principal?.kind === 'session' && account !== undefined && account !== principal.accountId;
  return hasChanged ? new ProblemError('account_changed') : null;
}
