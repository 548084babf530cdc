import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Config } from '#shared/platform/config.ts';
import type { seed } from '#scripts/seed.ts';
import type { Supervisor } from '#scripts/stack/supervisor.ts';
import { type Addresses, egressAllow, type Seconds, temporalNamespace } from './servers.ts';

export type Seeded = Awaited<ReturnType<typeof seed>>;

export function endpointsPath(config: Config): string {
  return join(config.dataDir, 'endpoints.json');
}

/**
 * For scripts, so that they need not parse the banner. The file contains the database password and a key, hence its
 * mode.
 */
export function writeEndpoints(
  config: Config,
  addresses: Addresses,
  supervisor: Supervisor,
  seeded: Seeded | undefined,
): void {
  const endpoints = {
    api: addresses.api,
    docs: `${addresses.api}/docs`,
    mcp: `${addresses.api}/api/mcp`,
    dataApi: `${addresses.api}/v1`,
    temporal: addresses.temporal,
    temporalUi: addresses.temporalUi,
    database: addresses.databaseUrl,
    processes: { launcher: process.pid, ...supervisor.pids() },
    seeded: seeded ?? {},
  };
  writeFileSync(endpointsPath(config), `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
}

function withoutPassword(databaseUrl: string): string {
  try {
    const url = new URL(databaseUrl);
    url.password = '';
    return url.href;
  } catch {
    return 'as DATABASE_URL says';
  }
}

/** The command that adds the tools to an MCP client. Other clients use the same address. */
function mcpCommand(config: Config, { api }: Addresses): string {
  const key = config.auth.mode === 'required' ? ` --header 'X-API-Key: <key>'` : '';
  return `claude mcp add --transport http workflows ${api}/api/mcp${key}`;
}

/** Temporal shows them as Running. Not for an external server, whose namespace may be in a profile file. */
function pausedRuns(config: Config, { temporalUi }: Addresses): string[] {
  if (temporalUi === undefined || config.temporal.address !== undefined) return [];
  const query = encodeURIComponent('OpsStatus="paused" AND ExecutionStatus="Running"');
  const list = `${temporalUi}/namespaces/${encodeURIComponent(temporalNamespace())}/workflows`;
  return [`  Paused runs  ${list}?query=${query}`];
}

export function banner(
  config: Config,
  addresses: Addresses,
  seconds: Seconds,
  total: number,
  seeded: Seeded | undefined,
): string {
  const inDataDir = (name: string): string => relative(process.cwd(), join(config.dataDir, name));
  const parts = [...seconds].map(([part, time]) => `${part} ${time.toFixed(1)}`).join(', ');
  const lines = [
    '',
    `  Console      ${addresses.api}/`,
    `  API          ${addresses.api}`,
    `  Docs         ${addresses.api}/docs`,
    `  MCP          ${mcpCommand(config, addresses)}`,
    `  Data API     ${addresses.api}/v1${seeded?.dataKey === undefined ? '' : ` (test key ${seeded.dataKey})`}`,
    `  Temporal UI  ${addresses.temporalUi ?? 'set TEMPORAL_UI_URL to link runs to it'}`,
    ...pausedRuns(config, addresses),
    `  Temporal     ${addresses.temporal}`,
    `  Database     ${withoutPassword(addresses.databaseUrl)}`,
    `  Addresses    ${inDataDir('endpoints.json')} (with the database password)`,
    `  Logs         ${inDataDir('logs')}`,
    `  Ready in     ${total.toFixed(1)} s (${parts})`,
  ];
  if (config.auth.mode === 'required') {
    lines.push(
      `  Sign in      POST ${addresses.api}/api/auth/login {"email": "${config.auth.ownerEmail}", "password": ...}`,
      ...(config.auth.secretKey === undefined
        ? ['  Note         SECRET_KEY is not set: sessions end when this stops']
        : []),
    );
  }
  if (process.env['EGRESS_ALLOW'] === undefined && egressAllow(config) !== '') {
    lines.push(
      `  Note         tools and webhooks may reach this machine itself (EGRESS_ALLOW=${egressAllow(config)})`,
    );
  }
  if (seeded?.gateRunId !== undefined) {
    const credential = config.auth.mode === 'required' ? " -H 'authorization: Bearer <token>'" : '';
    const url = seeded.approveUrl ?? `${addresses.api}/api/runs/${seeded.gateRunId}/approve`;
    const body = JSON.stringify(seeded.approveBody ?? { approved: true });
    lines.push(
      '',
      '  A run waits for an approval. Approve it:',
      '',
      `    curl -X POST ${url}${credential} -H 'content-type: application/json' -d '${body}'`,
    );
  }
  lines.push('', '  Ctrl-C stops everything.', '');
  return lines.join('\n');
}
