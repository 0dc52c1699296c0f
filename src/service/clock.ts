import type { QueryRunner } from '../db/query.ts';
import { readSkewMs, SKEW_MS_MAX } from '../db/clock.ts';
import { HOUR_MS } from '../time.ts';

type Log = { warn(fields: object, message: string): void };

/**
 * Warns if the clocks of this machine and the database differ, now and every hour. That of the database decides about
 * sessions, proofs, codes, tokens, memberships and keys; ids, the times of events, id tokens and DPoP proofs follow that of
 * this machine.
 * @returns what ends it
 */
export function watchClock(db: QueryRunner, log: Log): () => void {
  const check = async (): Promise<void> => {
    const skewMs = await readSkewMs(db);
    if (Math.abs(skewMs) > SKEW_MS_MAX)
      log.warn({ skewMs }, 'the clocks of this machine and the database differ; synchronize them');
  };
  // That the database cannot be reached is said elsewhere.
  const look = () => void check().catch(() => undefined);
  look();
  const timer = setInterval(look, HOUR_MS).unref();
  return () => clearInterval(timer);
}
