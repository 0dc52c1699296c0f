import { JWT_TIMESTAMP_CHECK, OperationProcessingError } from 'oauth4webapi';
import { RosterAccessError } from './errors.ts';

/** Whether a check of the library failed with a code. */
export const isError = (error: unknown, code: string): boolean =>
  error instanceof OperationProcessingError && error.code === code;

/** Says of tokens that are not accepted what is wrong with them. */
export function explain(error: unknown): unknown {
  if (isError(error, JWT_TIMESTAMP_CHECK))
    return new RosterAccessError(500, 'clock_wrong', 'The clock of this server or that of Roster is wrong.', {
      cause: error,
    });
  return error instanceof OperationProcessingError
    ? new RosterAccessError(502, 'answer_invalid', `The tokens of Roster are not valid: ${error.message}.`, {
        cause: error,
      })
    : error;
}

/** Reads what the browser brought. @throws RosterAccessError if it is of another server (mix-up) or another sign-in */
export function readAnswer<Answer>(read: () => Answer): Answer {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OperationProcessingError)) throw error;
    throw new RosterAccessError(400, 'sign_in_failed', 'The response is not that of Roster to this sign-in.', {
      cause: error,
    });
  }
}
