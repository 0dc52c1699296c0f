import { onBusyRelease } from '../db/connection/idle-releases.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Logs and counts connections that were given back to their pool too early: a defect, which costs a connection each time. */
export function watchBusyReleases(log: Log, metrics: Pick<Metrics, 'onBusyRelease'> | undefined): () => void {
  return onBusyRelease(({ pool, statement, error }) => {
    metrics?.onBusyRelease(pool);
    log.warn({ pool, statement, err: error }, 'a database connection was closed, because it was given back busy');
  });
}
