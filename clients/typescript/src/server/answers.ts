import {
  JWT_TIMESTAMP_CHECK,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
  AuthorizationResponseError,
} from 'oauth4webapi';
import { RosterAccessError, unavailable } from './errors.ts';

/** More than the codes of Roster have. It would not read a longer request. */
const CODE_LENGTH_MAX = 1000;

/** Whether a check of the library failed with a code. */
export const isError = (error: unknown, code: string): boolean =>
  error instanceof OperationProcessingError && error.code === code;

/** Roster answered what no session can come of. */
export const answerInvalid = (reason: string) =>
  new RosterAccessError(502, 'answer_invalid', `The answer of Roster is not valid: ${reason}.`);

/**
 * Says why a request to Roster came to nothing. The errors of the library contain tokens and claims: they are no `cause`,
 * because this error is logged.
 */
export function explain(error: unknown): RosterAccessError {
  if (error instanceof RosterAccessError) return error;
  if (isError(error, JWT_TIMESTAMP_CHECK))
    return new RosterAccessError(500, 'clock_wrong', 'The clock of this server or that of Roster is wrong.');
  if (error instanceof ResponseBodyError) return refused(error.error);
  if (error instanceof WWWAuthenticateChallengeError) return refused(`HTTP ${error.status}`);
  if (error instanceof OperationProcessingError || error instanceof UnsupportedOperationError)
    return answerInvalid(error.message);
  return unavailable(error);
}

const refused = (code: string) =>
  new RosterAccessError(500, 'client_refused', `Roster refuses this application (${code}). Check the id and secret.`);

/**
 * Reads what the browser brought.
 * @throws AuthorizationResponseError of `oauth4webapi` if Roster sent an error
 * @throws RosterAccessError if it is of another server (mix-up), another sign-in, or no answer at all
 */
export function readAnswer<Answer>({ searchParams }: URL, read: () => Answer): Answer {
  try {
    const answer = read();
    const [code = '', ...others] = searchParams.getAll('code');
    if (code !== '' && code.length <= CODE_LENGTH_MAX && others.length === 0) return answer;
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw error;
  }
  throw new RosterAccessError(400, 'sign_in_failed', 'The response is not that of Roster to this sign-in.');
}
