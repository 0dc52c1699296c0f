import { ProblemError } from '../errors.ts';
import { addressAttemptLimit, consumeAttempt, type Attempts } from './attempts.ts';

type LinkClient = { readonly attempts: Attempts; readonly addressBucket: string };

/**
 * Returns the result of a link look-up, and counts only invalid links. Tokens cannot be guessed, and a valid link must
 * work even if other clients of the IP address have exceeded the limit.
 */
export async function findLink<Found>({ attempts, addressBucket }: LinkClient, look: Promise<Found>): Promise<Found> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof ProblemError && error.problem === 'link_invalid') {
      await consumeAttempt(addressAttemptLimit(attempts, 'link', addressBucket));
    }
    throw error;
  }
}
