import { ProblemError } from '../problems/error.ts';
import { countAttempt, type AttemptClient } from './attempts.ts';

/**
 * Returns the result of a link look-up, and counts only invalid links. Tokens cannot be guessed, and a valid link must
 * work even if other clients of the IP address have exceeded the limit.
 */
export async function findLink<Found>(client: AttemptClient, look: Promise<Found>): Promise<Found> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof ProblemError && error.problem === 'link_invalid') {
      await countAttempt(client, { kind: 'invalid-link' });
    }
    throw error;
  }
}
