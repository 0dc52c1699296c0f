import { SECOND_MS } from '../../time.ts';

const END_MS = 2 * SECOND_MS;

/**
 * Waits until pools have ended, but not for connections that are never given back: Kysely, which MikroORM uses, keeps
 * those that broke inside of a transaction, because it waits for a ROLLBACK that succeeds.
 */
export async function endWithin(ended: Promise<unknown>): Promise<void> {
  const { promise: isTooLong, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, END_MS);
  try {
    await Promise.race([ended, isTooLong]);
  } finally {
    clearTimeout(timer);
  }
}
