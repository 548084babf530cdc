import { gunzipSync } from 'node:zlib';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ExportedSpan {
  service: string;
  resource: Record<string, unknown>;
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentSpanId: string;
  /** 1 internal, 2 server, 3 client, 4 producer. */
  kind: number;
  /** In ms since 1970. */
  start: number;
  end: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  failed: boolean;
}

export interface Collector {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The decoded spans, in order of arrival. */
  spans: ExportedSpan[];
  /** Everything received, as text. */
  received: () => string;
  requests: () => number;
  /** From now on, requests get this status; undefined: no answer at all. */
  answer: (status: number | undefined) => void;
  close: () => Promise<void>;
}

/** A server that speaks OTLP over HTTP with JSON, as an OpenTelemetry collector does. */
export async function startCollector(): Promise<Collector> {
  const spans: ExportedSpan[] = [];
  const bodies: string[] = [];
  let status: number | undefined = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      bodies.push(`${JSON.stringify(request.headers)}\n${body.toString()}`);
      if (status === undefined) return;
      if (status === 200 && request.url === '/v1/traces') spans.push(...decode(body.toString()));
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    received: () => bodies.join('\n'),
    requests: () => bodies.length,
    answer: (next) => (status = next),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Entry {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean };
}

function decode(body: string): ExportedSpan[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: any[] };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope: any) =>
      scope.spans.map((span: any): ExportedSpan => {
        const about = attributesOf(resource.attributes);
        return {
          service: String(about['service.name']),
          resource: about,
          name: span.name,
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? '',
          kind: span.kind,
          start: Number(span.startTimeUnixNano) / 1e6,
          end: Number(span.endTimeUnixNano) / 1e6,
          attributes: attributesOf(span.attributes),
          links: (span.links ?? []).map(({ traceId, spanId }: any) => ({ traceId, spanId })),
          failed: span.status?.code === 2,
        };
      }),
    ),
  );
}

const attributesOf = (entries: Entry[]): Record<string, unknown> =>
  Object.fromEntries(entries.map(({ key, value }) => [key, Object.values(value)[0]]));
