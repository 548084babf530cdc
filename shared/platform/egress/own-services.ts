import type { Config } from '#shared/platform/config.ts';
import type { ServiceAddress } from './own.ts';
import { connectOptions } from '#shared/platform/temporal.ts';

/**
 * The servers of this installation: API, Postgres, Temporal, its UI, the worker's metrics, the collector of traces, and
 * those in `EGRESS_DENY`. Workflows must not call them, even if `EGRESS_ALLOW` allows their network: they trust that
 * network and hold the data of every tenant.
 */
export function ownServices(config: Config): ServiceAddress[] {
  const urls = [
    ...(config.database.url === undefined ? [] : [{ url: config.database.url, port: 5432 }]),
    ...(config.temporal.uiUrl === undefined ? [] : [{ url: config.temporal.uiUrl, port: 80 }]),
    { url: `tcp://${connectOptions(config).connection.address}`, port: 7233 },
  ];
  return [
    { host: config.api.host, port: config.api.port },
    { host: config.worker.metricsHost, port: config.worker.metricsPort },
    ...config.egressDeny,
    ...urls.flatMap(({ url, port }) => serviceOf(url, port)),
    // A public collector is a service on the internet, often behind addresses that it shares with others.
    ...serviceOf(config.tracing?.url ?? '', 80).map((each) => ({ ...each, onlyPrivate: true })),
  ].filter(({ port }) => port !== 0);
}

/** Empty for a socket path, which has no host and cannot be called over HTTP. */
function serviceOf(url: string, defaultPort: number): ServiceAddress[] {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return [];
  const standard = parsed.protocol === 'https:' ? 443 : defaultPort;
  return [{ host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(parsed.port) || standard }];
}
