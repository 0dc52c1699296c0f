import type { Config } from '../config/config.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './tracing.ts';

/** The configured observers. Without any, requests have no overhead. */
export type Telemetry = {
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
};

type Log = { warn(fields: object, message: string): void };

/**
 * Loads the modules of the configured observers only.
 * @param worker the number of this process, if there are several
 */
export async function openTelemetry({ metricsPort, otlp }: Config, log: Log, worker?: number): Promise<Telemetry> {
  return {
    metrics: metricsPort === undefined ? undefined : (await import('./metrics.ts')).createMetrics(worker),
    tracing: otlp === undefined ? undefined : (await import('./tracing.ts')).startTracing(otlp, log),
  };
}
