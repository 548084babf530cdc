import { type Config, loadConfig } from '#shared/platform/config.ts';
import { freePorts, requireFreePort } from '#scripts/stack/ports.ts';

/**
 * Port 0 means any free port. All ports are chosen or checked before anything starts, so that a port in use does not
 * cause a partial start.
 */
export async function settlePorts(config: Config): Promise<Config> {
  const embeddedTemporal = config.temporal.address === undefined;
  const uses = [
    {
      port: config.api.port,
      purpose: 'the API',
      variable: 'API_PORT',
      host: config.api.host,
      needed: true,
    },
    {
      port: config.database.port,
      purpose: 'the database',
      variable: 'POSTGRES_PORT',
      host: '127.0.0.1',
      needed: config.database.url === undefined,
    },
    {
      port: config.temporal.port,
      purpose: 'the Temporal server',
      variable: 'TEMPORAL_PORT',
      host: '127.0.0.1',
      needed: embeddedTemporal,
    },
    {
      port: config.temporal.uiPort,
      purpose: 'the Temporal UI',
      variable: 'TEMPORAL_UI_PORT',
      host: '127.0.0.1',
      needed: embeddedTemporal,
    },
    {
      port: config.worker.metricsPort,
      purpose: "the worker's metrics",
      variable: 'WORKER_METRICS_PORT',
      host: config.worker.metricsHost,
      needed: true,
    },
  ].filter(({ needed }) => needed);
  const free = await freePorts(uses.filter(({ port }) => port === 0).length);
  const chosen: Record<string, string> = {};
  for (const use of uses) {
    if (use.port === 0) chosen[use.variable] = String(free.pop());
    else await requireFreePort(use);
  }
  return loadConfig({ ...process.env, ...chosen });
}
