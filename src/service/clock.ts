import type { QueryRunner } from '../db/query.ts';
import { readSkewMs, SKEW_MS_MAX } from '../db/clock.ts';
import { HOUR_MS } from '../time.ts';

type Log = { warn(fields: object, message: string): void };

/**
 * Warns if the clocks of this machine and the database differ, now and every hour: codes would expire at once, and
 * fresh sign-ins prove nothing. @returns what ends it
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
