import { DatabaseError } from 'pg';
import { BusyError } from '../turns.ts';

// Statements and entities fail with the same errors: those of pg, with their SQLSTATE in `code`, and `constraint`.

/** What a transaction has locked is not what it needs any more. It begins anew. */
export class ConflictError extends Error {
  readonly code = '40001';
}

const stateOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

const isCausedBy = (error: unknown, states: RegExp): boolean =>
  error instanceof Error && (states.test(stateOf(error)) || isCausedBy(error.cause, states));

/**
 * Returns whether a transaction failed only because of concurrent ones: a serialization failure or a deadlock, for which
 * PostgreSQL aborted it. It can be retried.
 */
export const isTransactionConflict = (error: unknown): boolean => isCausedBy(error, /^40(001|P01)$/);

/** Returns whether PostgreSQL aborted a transaction because it waited too long for a lock. */
export const isLockTimeout = (error: unknown): boolean => isCausedBy(error, /^55P03$/);

/** Returns whether a value is in use already. */
export const isUniqueViolation = (error: unknown): boolean => stateOf(error) === '23505';

/** Returns whether a row that another one refers to does not exist. */
export const isForeignKeyViolation = (error: unknown): boolean => stateOf(error) === '23503';

/** Returns the name of the constraint that a statement violated. */
export const findConstraint = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.constraint : undefined;

const RETRIES_MAX = 3;

/** Retries a transaction that PostgreSQL aborted because of a conflict, up to three times. */
export async function retryConflicts<R>(attempt: () => Promise<R>): Promise<R> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (retries === RETRIES_MAX || !isTransactionConflict(error)) throw error;
    }
  }
}

/**
 * SQLSTATE classes of a server that is unavailable, read-only, starting, stopping, or out of connections, disk or memory,
 * and of a lock timeout.
 */
const UNAVAILABLE_STATE = /^(08|25006|25P03|53|55P03|57P0|58)/;
const UNAVAILABLE_ERRNO = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_|EMFILE|ENFILE)/;
const UNAVAILABLE_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|statement timeout|Client has encountered a connection error|getaddrinfo EINVAL/i;

/**
 * Returns whether a retry can succeed: the database is unavailable, or it aborted the transaction because of a
 * concurrent one.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof BusyError) return true;
  if (!(error instanceof Error)) return false;
  const code = stateOf(error);
  return (
    isTransactionConflict(error) ||
    UNAVAILABLE_STATE.test(code) ||
    UNAVAILABLE_ERRNO.test(code) ||
    UNAVAILABLE_MESSAGE.test(error.message) ||
    isUnavailable(error.cause)
  );
}
