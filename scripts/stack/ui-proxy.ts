import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isKnownHost } from '#shared/platform/egress/known-host.ts';

export interface UiProxy {
  port: number;
  close(): Promise<void>;
}

/**
 * A proxy for the embedded Temporal UI, which responds to any page: through a host name that resolves to this machine
 * (DNS rebinding) a page could read every execution, and a page of any origin could terminate them. Rejects foreign
 * host names, and changes requested by pages of other origins.
 */
export async function startUiProxy(options: {
  port: number;
  /** The UI's own port, on loopback. */
  uiPort: number;
  publicUrl: string;
}): Promise<UiProxy> {
  const server = createServer((incoming, outgoing) => {
    const refusal = refusalOf(incoming, options.publicUrl);
    if (refusal === undefined) forward(incoming, outgoing, options.uiPort);
    else outgoing.writeHead(403, { 'content-type': 'text/plain' }).end(`${refusal}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refusalOf({ method, headers }: IncomingMessage, publicUrl: string): string | undefined {
  if (!isKnownHost(headers.host, publicUrl)) {
    return 'This host name is not allowed: open the page by an address, or set PUBLIC_URL';
  }
  const reads = method === 'GET' || method === 'HEAD';
  if (reads || headers.origin === undefined) return undefined;
  return URL.parse(headers.origin)?.host === headers.host
    ? undefined
    : 'Requests from pages of other origins are not allowed';
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, uiPort: number): void {
  const upstream = request(
    {
      host: '127.0.0.1',
      port: uiPort,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  upstream.once('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end('The Temporal UI does not answer\n');
  });
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}
