import type { Config } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { exportSpans } from './spans.ts';

/** How long a stopping process waits for its last spans to be sent. */
const FLUSH_MS = 1_000;

export interface Tracing {
  /** Sends the remaining spans, within a second. Never rejects. */
  stop(): Promise<void>;
}

/** Exports the spans of this process if the configuration names a collector. Only then is OpenTelemetry loaded. */
export async function startTracing(
  settings: Config['tracing'],
  process: { service: string; log: Logger },
): Promise<Tracing> {
  if (settings === undefined) return { stop: () => Promise.resolve() };
  const { createExport } = await import('./otlp.ts');
  const spans = createExport(settings, process);
  exportSpans(spans.record);
  return {
    stop: async () => {
      exportSpans(undefined);
      const { promise: late, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(resolve, FLUSH_MS, undefined);
      await Promise.race([spans.close(), late]);
      clearTimeout(timer);
    },
  };
}
