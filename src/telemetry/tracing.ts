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
  /** The URL of the collector, without the path of traces. */
  readonly endpoint: string;
  /** The fraction of requests that is traced, unless the caller's span decides it. */
  readonly ratio: number;
};

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

type Log = { warn(fields: object, message: string): void };

/** The time limit of an export, including the last one at shutdown. */
const EXPORT_MS = 2000;

/** The attributes of a request's span. */
type Finished = {
  readonly operation: string | null;
  readonly status: number;
  readonly credentialId: string | null;
  readonly requestId: string;
  readonly clientRequestId: string | null;
};

/** Starts tracing: a span per request and, below it, one per query and Redis call. */
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
    spanProcessors: [
      new BatchSpanProcessor({ exporter: withFailureLog(exporter, log), exportTimeoutMillis: EXPORT_MS }),
    ],
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
      // Not the message, which can quote values.
      span.setAttribute('error.type', toErrorType(error)).setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };

  return {
    withSpan,

    /** Runs each request in a span, which `finishRequest` ends. */
    listener:
      (app: Listener): Listener =>
      (req, res) => {
        const { method = '' } = req;
        const caller = readCallerSpan(req);
        const span = tracer.startSpan(
          method,
          { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
          caller,
        );
        spans.set(res, { span, method });
        return current.run(trace.setSpan(caller, span), () => app(req, res));
      },

    finishRequest(response: object, { operation, status, credentialId, requestId, clientRequestId }: Finished): void {
      const found = spans.get(response);
      if (found === undefined) return;
      const { span, method } = found;
      span.updateName(operationLabel(operation) ?? method);
      span.setAttributes({
        'http.response.status_code': status,
        'roster.request_id': requestId,
        ...(clientRequestId === null ? {} : { 'roster.client_request_id': clientRequestId }),
        ...(credentialId === null ? {} : { 'roster.credential_id': credentialId }),
      });
      if (status >= 500) {
        span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },

    /** Exports the remaining spans. Never rejects. */
    async close(): Promise<void> {
      const timeout = new Promise((resolve) => setTimeout(resolve, EXPORT_MS));
      await Promise.race([provider.shutdown(), timeout]).catch(() => undefined);
    },
  };
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Reads the caller's span (W3C Trace Context). Ignores `tracestate`, which is text of the caller's choice. */
function readCallerSpan({ headers }: IncomingMessage): Context {
  const { traceparent } = headers;
  const [, traceId = '', spanId = '', flags = ''] =
    TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return trace.isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Returns an error's code, such as an SQLSTATE, or its class. */
const toErrorType = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error ? String(error.code) : error.constructor.name;
};

/** Logs the start of an outage of the collector, because the library does not. */
function withFailureLog(exporter: SpanExporter, log: Log): SpanExporter {
  let isUnavailable = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const isFailure = result.code !== 0;
        if (isFailure && !isUnavailable) log.warn({ reason: result.error?.name }, 'trace export failed');
        isUnavailable = isFailure;
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
