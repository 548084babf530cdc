import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { migrate } from '../shared/db/migrate.ts';
import { checkSteps, runChecks } from './check/steps.ts';
import { keepDurations } from './related/durations.ts';
import { relatedTests } from './related/index.ts';
import type { Claim } from './stack/claim.ts';
import { createTemplate, dropDatabase } from './stack/databases.ts';
import { cleanEnvironment } from './stack/environment.ts';
import { messageOf, since } from './stack/output.ts';
import { removeFolder } from './stack/temporary-folder.ts';
import { claimTestFolder, clearEarlierTests, startTestServers } from './stack/test-servers.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';

/**
 * `npm test [-- <jest arguments>]`: one throwaway Postgres and one Temporal server for all test files, a migrated
 * template database that each file clones, the workflow bundle built once, then jest. Without arguments the steps of
 * `npm run check` run too and count as one each. `--related` selects the test files nearest to the changes. The last
 * line is always `N passed, N failed`.
 */
const projectDir = join(import.meta.dirname, '..');

/** Jest should exit after its last test; open handles are leaks of the tests. */
const jestExitGraceMs = 20_000;

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

function testEnvironment(): NodeJS.ProcessEnv {
  return {
    ...cleanEnvironment(),
    NODE_ENV: 'test',
    ...(process.stderr.isTTY ? {} : { NO_COLOR: '1' }),
    // The machine's proxy must not be used for servers on this machine.
    no_grpc_proxy: '127.0.0.1,localhost',
    // By default glibc keeps several pools of freed memory for each thread.
    MALLOC_ARENA_MAX: '2',
    // Tests start hundreds of processes, and each would parse and compile the same files.
    NODE_COMPILE_CACHE: join(projectDir, '.cache', 'compiled'),
  };
}

interface JestResults {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  numPendingTests: number;
  testResults: { name: string; startTime: number; endTime: number }[];
}

async function runJest(args: string[], env: NodeJS.ProcessEnv, folder: string): Promise<Tally> {
  const outputFile = join(folder, 'jest-results.json');
  const colour = process.stderr.isTTY ? ['--colors'] : [];
  const child = spawn(
    process.execPath,
    [
      // Its processes have small heaps; jest passes the flag on to them.
      '--max-semi-space-size=8',
      join(projectDir, 'node_modules/jest/bin/jest.js'),
      '--json',
      `--outputFile=${outputFile}`,
      ...colour,
      ...args,
    ],
    { cwd: projectDir, env, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  running.add(child);
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!line.startsWith('Test results written to')) console.log(line);
  });
  const hung = new Promise<'hung'>((resolve) => {
    const watch = setInterval(() => {
      if (child.exitCode !== null || child.signalCode !== null) clearInterval(watch);
      else if (existsSync(outputFile)) {
        clearInterval(watch);
        setTimeout(() => resolve('hung'), jestExitGraceMs).unref();
      }
    }, 500);
    watch.unref();
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const outcome = await Promise.race([exit, hung]);
  if (outcome === 'hung') {
    child.kill('SIGKILL');
    await exit;
  }
  running.delete(child);
  return tallyOf(outcome, outputFile);
}

/** An unreliable run counts as one more failure, even if its tests passed. */
function tallyOf(outcome: number | null | 'hung', outputFile: string): Tally {
  if (!existsSync(outputFile)) {
    console.error(`jest ended with exit code ${outcome ?? 'none (killed)'} and left no result`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const results = JSON.parse(readFileSync(outputFile, 'utf8')) as JestResults;
  keepDurations(projectDir, results.testResults);
  const tally = {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests,
  };
  if (outcome === 'hung') {
    console.error(
      'jest did not end after its last test: a test leaves something open (see --detectOpenHandles)',
    );
    tally.failed += 1;
  } else if (tally.passed + tally.failed === 0) {
    console.error('jest ran no test');
    tally.failed += 1;
  } else if (tally.failed === 0 && (outcome !== 0 || !results.success)) {
    console.error(
      `jest ended with exit code ${outcome ?? 'none (killed)'} although no test failed`,
    );
    tally.failed += 1;
  }
  return tally;
}

async function runTests(args: string[], claim: Claim): Promise<Tally> {
  const started = performance.now();
  const bundling = cachedWorkflowBundle(projectDir);
  bundling.catch(() => undefined);
  const servers = await startTestServers(claim);
  stopServers = servers.stop;
  const template = await createTemplate(servers.databaseUrl, migrate);
  const bundle = await bundling;
  console.log(
    `Postgres, Temporal, template database and workflow bundle ready in ${since(started)}`,
  );
  try {
    return await runJest(
      args,
      {
        ...testEnvironment(),
        TEST_DATABASE_URL: servers.databaseUrl,
        TEST_DATABASE_TEMPLATE: template,
        TEST_TEMPORAL_ADDRESS: servers.temporalAddress,
        WORKFLOW_BUNDLE: bundle,
        TEST_FOLDER: claim.folder,
        TMPDIR: claim.folder,
      },
      claim.folder,
    );
  } finally {
    await dropDatabase(servers.databaseUrl, template);
  }
}

/** Processes to end on a signal: they get the terminal's Ctrl-C directly, but not a plain kill. */
const running = new Set<ChildProcess>();
const ending = new AbortController();
let stopServers: () => Promise<void> = async () => undefined;

async function main(args: string[]): Promise<void> {
  await clearEarlierTests();
  const claim = await claimTestFolder();
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const add = ({ passed, failed, skipped = 0 }: Omit<Tally, 'skipped'> & Partial<Tally>): void => {
    tally.passed += passed;
    tally.failed += failed;
    tally.skipped += skipped;
  };
  const cleanUp = async (): Promise<void> => {
    await stopServers();
    claim.release();
    removeFolder(claim.folder);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      ending.abort();
      for (const child of running) child.kill('SIGTERM');
      void cleanUp().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  // Sequentially and at low priority: they use the processor time that waiting tests leave.
  const beside =
    args.length === 0
      ? runChecks({
          steps: checkSteps,
          atOnce: 1,
          inBackground: true,
          running,
          signal: ending.signal,
        })
      : undefined;
  try {
    add(await runTests(args, claim));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    add({ passed: 0, failed: 1, skipped: 0 });
  }
  if (beside !== undefined) add(await beside);
  await cleanUp().catch((error: unknown) => console.error(`clean-up: ${messageOf(error)}`));
  if (tally.skipped > 0) console.log(`${tally.skipped} skipped: their titles say why`);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed === 0 ? 0 : 1);
}

/** Replaces `--related` with test files. Ends the process if there are none. */
function withRelated(args: string[]): string[] {
  if (!args.includes('--related')) return args;
  const { changed, chosen, left } = relatedTests(projectDir);
  if (chosen.length === 0) {
    console.log(`no test depends on ${changed.join(', ')}`);
    console.log('0 passed, 0 failed');
    process.exit(0);
  }
  console.log(
    `${chosen.length} test ${chosen.length === 1 ? 'file' : 'files'} near ${changed.slice(0, 5).join(', ')}`,
  );
  if (left > 0) console.log(`${left} more depend on it: npm test runs them all`);
  return [...args.filter((arg) => arg !== '--related'), '--runTestsByPath', ...chosen];
}

await main(withRelated(process.argv.slice(2)));
