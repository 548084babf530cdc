import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '#shared/platform/config.ts';
import { type Addresses, type Cluster, createCluster } from './cluster/cluster.ts';
import { claimFolder } from './stack/claim.ts';
import { loadEnvFile } from './stack/env-file.ts';
import { messageOf, since } from './stack/output.ts';
import { whenStarterEnds } from './stack/starter.ts';
import { clusterPrograms } from './setup/cluster-programs.mjs';
import { settlePorts } from './start/choose-ports.ts';
import { projectDir } from './start/servers.ts';

/**
 * `npm run cluster [-- --apis 2] [-- --workers 3]`: what docker-compose.yml describes, without containers: the Temporal
 * server of that file on Postgres with 128 shards, its UI, several API and worker processes, and a balancer in front of
 * the APIs. Each process is restarted when it ends. Data is in `cluster` below the data folder. See docs/cluster.md.
 */
const { values } = parseArgs({
  options: {
    apis: { type: 'string', default: '2' },
    workers: { type: 'string', default: '3' },
  },
});

function count(name: 'apis' | 'workers'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 1 && number <= 8) return number;
  throw new Error(`--${name} must be a whole number from 1 to 8`);
}

function banner({ parts }: Cluster, addresses: Addresses, dataDir: string): string {
  const { server, ui } = clusterPrograms(projectDir);
  return [
    '',
    `  Console      ${addresses.url}/  (balancer)`,
    `  Temporal UI  ${addresses.uiUrl}  (${ui.version})`,
    `  Temporal     ${addresses.temporalAddress}  (server ${server.version}, 128 shards on Postgres)`,
    `  Processes    ${parts.map(({ name }) => name).join(', ')}`,
    `  Logs         ${join(dataDir, 'logs')}`,
    '',
    '  Ctrl-C stops everything.',
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const size = { apis: count('apis'), workers: count('workers') };
  loadEnvFile(projectDir);
  const dataDir = join(loadConfig().dataDir, 'cluster');
  process.env['DATA_DIR'] = dataDir;
  // The servers are part of the cluster.
  delete process.env['DATABASE_URL'];
  delete process.env['TEMPORAL_ADDRESS'];
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  process.umask(0o077);
  const claim = await claimFolder(dataDir);
  const config = await settlePorts(loadConfig());
  const started = performance.now();
  const cluster = createCluster({
    ...size,
    config,
    claim,
    secretKey: config.auth.secretKey ?? randomBytes(32).toString('base64'),
    say: (line) => console.log(`${since(started).padStart(7)}  ${line}`),
  });
  const stopping = new AbortController();
  const leave = async (code: number): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    console.log('\nStopping ...');
    await cluster.stop();
    claim.release();
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void leave(0));
  }
  whenStarterEnds(() => void leave(0));
  process.on('exit', () => cluster.killAll());
  try {
    const addresses = await cluster.start();
    if (!stopping.signal.aborted) console.log(banner(cluster, addresses, dataDir));
  } catch (error) {
    // During a stop, a part that is still starting fails because it was stopped.
    if (!stopping.signal.aborted) {
      console.error(messageOf(error));
      await leave(1);
    }
  }
}

try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
