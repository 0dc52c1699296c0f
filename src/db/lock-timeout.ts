const LOCK_NOT_AVAILABLE = '55P03';

/** Whether PostgreSQL aborted a transaction because it waited too long for a lock. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === LOCK_NOT_AVAILABLE) || isLockTimeout(error.cause));
