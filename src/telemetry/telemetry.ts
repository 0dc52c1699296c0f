import type { Config } from '../config.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './tracing.ts';

/** Who looks on, as far as the configuration asks for it. Where nobody does, a request pays for nothing. */
export type Telemetry = {
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
};

type Log = { warn(fields: object, message: string): void };

/** Loads what is configured, and nothing of what is not. */
export async function openTelemetry({ metricsPort, otlp }: Config, log: Log): Promise<Telemetry> {
  return {
    metrics: metricsPort === undefined ? undefined : (await import('./metrics.ts')).createMetrics(),
    tracing: otlp === undefined ? undefined : (await import('./tracing.ts')).startTracing(otlp, log),
  };
}
