import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Config, OTLP_PROTOCOL } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { EndedSpan, ParentSpan, SpanPlace } from './spans.ts';

type TracingSettings = NonNullable<Config['tracing']>;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} satisfies Record<EndedSpan['kind'], SpanKind>;

/**
 * Sends spans to an OpenTelemetry collector in batches, with a bounded queue. Spans that do not fit are dropped.
 * `record` never throws or waits. The SDK is not registered globally, so no library in the process adds spans.
 */
export function createExport(
  settings: TracingSettings,
  { service, log }: { service: string; log: Logger },
): { record: (span: EndedSpan) => void; close: () => Promise<void> } {
  reportProblems(log);
  reportProtocol(settings, log);
  const ids = createIds();
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service }))
      // OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME.
      .merge(
        detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
      ),
    sampler: samplerOf(settings, log),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: settings.url,
          headers: settings.headers,
          timeoutMillis: settings.timeoutMs,
        }),
        scheduledDelayMillis: settings.delayMs,
        maxQueueSize: settings.maxQueueSize,
      }),
    ],
  });
  const tracer = provider.getTracer('durable-workflows');

  /** The parent in the SDK's form. Within a process, the sampler decides by the trace id, as everywhere else. */
  function contextOf({ traceId, spanId, remote }: ParentSpan) {
    const sampled = remote?.sampled ?? isSampled(traceId);
    const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const isRemote = remote !== undefined;
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote });
  }
  function isSampled(traceId: string): boolean {
    ids.next = { traceId, spanId: '0000000000000001' };
    // Never ended, so never exported.
    const root = tracer.startSpan('decision', { root: true }, ROOT_CONTEXT);
    return (root.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  }
  const record = (ended: EndedSpan): void => {
    const { name, kind, place, parent, startedAt, endedAt, failed, links = [] } = ended;
    const context = parent === undefined ? ROOT_CONTEXT : contextOf(parent);
    ids.next = place;
    const span = tracer.startSpan(
      name,
      {
        kind: kinds[kind],
        startTime: startedAt,
        attributes: ended.attributes,
        links: links.map((link) => ({ context: { ...link, traceFlags: TraceFlags.NONE } })),
      },
      context,
    );
    if (failed === true) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endedAt);
  };
  return { record, close: () => provider.shutdown().catch(() => undefined) };
}

function reportProtocol({ protocol }: TracingSettings, log: Logger): void {
  if (protocol === OTLP_PROTOCOL) return;
  log.warn(
    { protocol },
    `OTEL_EXPORTER_OTLP_PROTOCOL is ignored: traces are sent as ${OTLP_PROTOCOL}, to a port for OTLP over HTTP`,
  );
}

/** Gives the next span the ids that were set. */
function createIds(): IdGenerator & { next: SpanPlace } {
  const ids = {
    next: { traceId: '', spanId: '' },
    generateTraceId: () => ids.next.traceId,
    generateSpanId: () => ids.next.spanId,
  };
  return ids;
}

/** OTEL_TRACES_SAMPLER. As OpenTelemetry requires, an unknown value is logged and otherwise ignored. */
function samplerOf({ sampler, samplerArg }: TracingSettings, log: Logger): Sampler {
  const ratio = samplerArg === undefined ? 1 : Number(samplerArg);
  if (!(ratio >= 0 && ratio <= 1)) log.warn({ samplerArg }, 'OTEL_TRACES_SAMPLER_ARG is ignored');
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1),
  };
  const [, parentBased, root = ''] = /^(parentbased_)?(.*)$/.exec(sampler) ?? [];
  const create = roots[root];
  if (create === undefined) log.warn({ sampler }, 'OTEL_TRACES_SAMPLER is ignored');
  const chosen = create?.() ?? new AlwaysOnSampler();
  return parentBased === undefined && create !== undefined
    ? chosen
    : new ParentBasedSampler({ root: chosen });
}

const REPORT_EVERY_MS = 60_000;

/** Logs problems of the export, at most one a minute. */
function reportProblems(log: Logger): void {
  let reportedAt = -Infinity;
  const report = (text: string): void => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    log.warn({ reason: reasonOf(text).slice(0, 300) }, 'could not export all spans');
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** The SDK reports an error as JSON, with its stack and the collector's response. */
function reasonOf(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const { message, code } = JSON.parse(text) as { message?: string; code?: string | number };
    return [message, code].filter((part) => part !== undefined).join(' ');
  } catch {
    return 'unknown';
  }
}
