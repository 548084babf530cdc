import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type RollingRestart, rollingRestart } from '#test/cluster/rolling-restart.ts';
import { startTemporalServer, temporalPorts } from './cluster/temporal-server.ts';
import { createThrowawayCluster } from './cluster/throwaway.ts';
import type { Claim } from './stack/claim.ts';
import { messageOf, since } from './stack/output.ts';
import { freePorts } from './stack/ports.ts';
import { startPostgres } from './stack/postgres.ts';
import { removeFolder } from './stack/temporary-folder.ts';
import { claimTestFolder, clearEarlierTests, testDynamicConfig } from './stack/test-servers.ts';

/**
 * `npm run test:cluster [-- restart] [-- tests] [-- test/engine/crashes] [-- storm]`: tests on the Temporal server of the compose file, with
 * Postgres: a rolling restart of every process of the cluster under load, the tests of the engine and the API, and a
 * storm. Exits with 1 if one failed. See docs/cluster.md.
 */
const projectDir = join(import.meta.dirname, '..');

/** For triggers during the rolling restart, including retries. */
const MAX_P99_MS = 2_000;
const STORM_SECONDS = 60;

interface Tally {
  passed: number;
  failed: number;
}

const verdict = (passed: boolean): Tally => ({ passed: Number(passed), failed: Number(!passed) });

/** Runs a script, shows its output, and returns its lines. */
async function runScript(
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, args, {
    cwd: projectDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    console.log(line);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, lines };
}

/** The rolling restart of a cluster of two APIs and three workers. */
async function restart(claim: Claim): Promise<Tally> {
  const cluster = await createThrowawayCluster(claim, { apis: 2, workers: 3, say: console.log });
  const killAll = (): void => cluster.killAll();
  process.once('exit', killAll);
  try {
    const result = await rollingRestart(cluster, await cluster.start(), console.log);
    return judge(result);
  } finally {
    await cluster.stop();
    process.off('exit', killAll);
  }
}

function judge(result: RollingRestart): Tally {
  const { requests, lost, latency, runs } = result;
  console.log(JSON.stringify(result, null, 2));
  const checks: Record<string, boolean> = {
    'no request is lost': requests > 0 && lost.length === 0,
    'every request started one run, and each succeeded': runs['success'] === requests,
    'no run has another status': Object.keys(runs).length === 1,
    [`99 of 100 triggers are answered within ${MAX_P99_MS} ms`]: latency.p99 <= MAX_P99_MS,
  };
  const tally = { passed: 0, failed: 0 };
  for (const [check, passed] of Object.entries(checks)) {
    console.log(`${passed ? 'PASS' : 'FAIL'} ${check}`);
    tally[passed ? 'passed' : 'failed'] += 1;
  }
  return tally;
}

/** The tests of the engine and the API, as `npm test` runs them, on the compose file's server. */
async function tests(claim: Claim, paths: readonly string[]): Promise<Tally> {
  const [postgresPort = 0, ...ports] = await freePorts(1 + temporalPorts);
  const onSpawn = (child: { name: string; pid: number; kill(): void }): void => {
    claim.record(child.name, child.pid);
    process.once('exit', () => child.kill());
  };
  const postgres = await startPostgres({
    dataDir: claim.folder,
    port: postgresPort,
    database: 'postgres',
    throwaway: true,
    maxConnections: 300,
    onSpawn,
  });
  const { adminUrl } = postgres;
  const dataDir = claim.folder;
  const temporal = await startTemporalServer({
    dataDir,
    projectDir,
    ports,
    adminUrl,
    dynamicConfig: testDynamicConfig,
    onSpawn,
  });
  try {
    const { lines } = await runScript(['scripts/test.ts', ...paths], {
      TEST_DATABASE_URL: adminUrl,
      TEST_TEMPORAL_ADDRESS: temporal.address,
    });
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(lines.at(-1) ?? '') ?? [];
    return passed === undefined
      ? verdict(false)
      : { passed: Number(passed), failed: Number(failed) };
  } finally {
    await temporal.stop(5_000);
    await postgres.stop(2_000);
  }
}

async function storm(): Promise<Tally> {
  const args = ['scripts/storm.ts', '--server', '--seconds', String(STORM_SECONDS)];
  const { code } = await runScript(args);
  return verdict(code === 0);
}

const parts: Record<string, (claim: Claim, paths: readonly string[]) => Promise<Tally>> = {
  restart,
  tests,
  storm,
};
const defaultPaths = ['test/engine', 'test/api'];

/** Names of parts, and paths of test files or folders for `tests`. */
function choose(args: string[]): { wanted: string[]; paths: string[] } {
  const paths = args.filter((arg) => arg.includes('/'));
  const named = args.filter((arg) => !arg.includes('/'));
  const unknown = named.filter((name) => !(name in parts));
  if (unknown.length > 0) {
    throw new Error(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}`);
  }
  if (args.length === 0) return { wanted: Object.keys(parts), paths: defaultPaths };
  if (paths.length === 0) return { wanted: named, paths: defaultPaths };
  return { wanted: [...new Set([...named, 'tests'])], paths };
}

async function main(args: string[]): Promise<number> {
  const { wanted, paths } = choose(args);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  const total = { passed: 0, failed: 0 };
  for (const [name, work] of Object.entries(parts)) {
    if (!wanted.includes(name)) continue;
    const started = performance.now();
    await clearEarlierTests();
    const claim = await claimTestFolder();
    try {
      const { passed, failed } = await work(claim, paths);
      console.log(`${name}: ${passed} passed, ${failed} failed (${since(started)})`);
      total.passed += passed;
      total.failed += failed;
    } finally {
      claim.release();
      removeFolder(claim.folder);
    }
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(`The cluster could not be tested: ${messageOf(error)}`);
  process.exit(1);
}
