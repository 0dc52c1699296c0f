import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context, type Span } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { RunInSpan } from './span.ts';
import { operationLabel } from './labels.ts';

export type Tracing = ReturnType<typeof startTracing>;

type Options = {
  /** The collector's address, without the path of traces. */
  readonly endpoint: string;
  /** The part of requests that is traced, where the caller has not decided that. */
  readonly ratio: number;
};

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

type Log = { warn(fields: object, message: string): void };

/** How long a collector has for an export, also for the last one. */
const EXPORT_MS = 2000;

/** What is told of a request, which is all that its span says. */
type Finished = {
  readonly operation: string | null;
  readonly status: number;
  readonly credentialId: string | null;
  readonly requestId: string;
};

/** Spans of requests and, below them, of the statements and calls of Redis that each makes. */
export function startTracing({ endpoint, ratio }: Options, log: Log) {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'roster' }).merge(
      detectResources({ detectors: [serviceInstanceIdDetector, envDetector, serviceNameEnvDetector] }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: complaining(exporter, log), exportTimeoutMillis: EXPORT_MS })],
  });
  const tracer = provider.getTracer('roster');
  const current = new AsyncLocalStorage<Context>();
  const spans = new WeakMap<object, { readonly span: Span; readonly method: string }>();

  const withSpan: RunInSpan = async (system, name, run) => {
    const parent = current.getStore();
    if (parent === undefined) return run();
    const span = tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes: { 'db.system.name': system, 'db.query.summary': name } },
      parent,
    );
    try {
      return await current.run(trace.setSpan(parent, span), run);
    } catch (error) {
      // The message can quote values.
      span.setAttribute('error.type', kindOf(error)).setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };

  return {
    withSpan,

    /** Runs each request in a span, which `finished` ends. */
    listener:
      (app: Listener): Listener =>
      (req, res) => {
        const { method = '' } = req;
        const caller = callerOf(req);
        const span = tracer.startSpan(
          method,
          { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
          caller,
        );
        spans.set(res, { span, method });
        return current.run(trace.setSpan(caller, span), () => app(req, res));
      },

    finished(answer: object, { operation, status, credentialId, requestId }: Finished): void {
      const found = spans.get(answer);
      if (found === undefined) return;
      const { span, method } = found;
      span.updateName(operationLabel(operation) ?? method);
      span.setAttributes({
        'http.response.status_code': status,
        'roster.request_id': requestId,
        ...(credentialId === null ? {} : { 'roster.credential_id': credentialId }),
      });
      if (status >= 500) {
        span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },

    /** Sends what has not been sent yet. Never rejects. */
    async close(): Promise<void> {
      const timeout = new Promise((resolve) => setTimeout(resolve, EXPORT_MS));
      await Promise.race([provider.shutdown(), timeout]).catch(() => undefined);
    },
  };
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The caller's span (W3C Trace Context). Its `tracestate`, a text of its own choice, is left where it is.
 */
function callerOf({ headers }: IncomingMessage): Context {
  const { traceparent } = headers;
  const [, traceId = '', spanId = '', flags = ''] =
    TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return trace.isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** An error's code, such as an SQLSTATE, or its class. */
const kindOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error ? String(error.code) : error.constructor.name;
};

/** The library keeps it to itself that a collector is away. */
function complaining(exporter: SpanExporter, log: Log): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const isFailure = result.code !== 0;
        if (isFailure && !isAway) log.warn({ reason: result.error?.name }, 'the traces cannot be exported');
        isAway = isFailure;
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
