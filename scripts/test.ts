import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrate } from '#shared/db/migrate.ts';
import { checkSteps, runChecks } from './check/steps.ts';
import { relatedTests } from './related/index.ts';
import type { Claim } from './stack/claim.ts';
import { createTemplate, dropDatabase } from './stack/databases.ts';
import { cleanEnvironment } from './stack/environment.ts';
import { messageOf, since } from './stack/output.ts';
import { removeFolder } from './stack/temporary-folder.ts';
import { claimTestFolder, clearEarlierTests, startTestServers } from './stack/test-servers.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';
import { runJest, type Tally } from './tests/jest.ts';
import { isWhole, jestArguments, numbersOf, type Tier, tierOf } from './tests/tiers.ts';

/**
 * `npm test [-- <jest arguments>]`: one throwaway Postgres and one Temporal server for all test files, a migrated
 * template database that each file clones, the workflow bundle built once, then jest. It leaves out `*.soak.test.ts`
 * unless a path is given. Without arguments, the steps of `npm run check` also run and count as one test each, and a
 * failed file runs once more, alone. `--related` selects the test files nearest to the changes. `npm run test:soak [--
 * --shard 1/4]` runs the soak tests, and `npm run test:all` everything. The last line is always `N passed, N failed`.
 */
const projectDir = join(import.meta.dirname, '..');
const samePriority = join(projectDir, 'test/support/jest/same-priority.mjs');

function testEnvironment(): NodeJS.ProcessEnv {
  return {
    ...cleanEnvironment(),
    NODE_ENV: 'test',
    ...(process.stderr.isTTY ? {} : { NO_COLOR: '1' }),
    // The machine's proxy must not be used for servers on this machine.
    no_grpc_proxy: '127.0.0.1,localhost',
    // By default, glibc keeps several pools of freed memory for each thread.
    MALLOC_ARENA_MAX: '2',
    // Tests start hundreds of processes, and each would parse and compile the same files.
    NODE_COMPILE_CACHE: join(projectDir, '.cache', 'compiled'),
    NODE_OPTIONS: [
      process.env['NODE_OPTIONS'] ?? '',
      `--import=${pathToFileURL(samePriority).href}`,
    ].join(' '),
  };
}

async function runTests(tier: Tier, rest: string[], claim: Claim): Promise<Tally> {
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
    const numbers = numbersOf(tier, rest);
    const env = {
      ...testEnvironment(),
      ...numbers,
      TEST_DATABASE_URL: servers.databaseUrl,
      TEST_DATABASE_TEMPLATE: template,
      TEST_TEMPORAL_ADDRESS: servers.temporalAddress,
      WORKFLOW_BUNDLE: bundle,
      TEST_FOLDER: claim.folder,
      TMPDIR: claim.folder,
    };
    const options = {
      projectDir,
      env,
      folder: claim.folder,
      running,
      say: console.log,
      limited: numbers['SOAK_TESTS'] === undefined,
    };
    return await runJest(jestArguments(tier, rest), options, { repeats: isWhole(rest) });
  } finally {
    await dropDatabase(servers.databaseUrl, template);
  }
}

/** Processes to end on a signal. They get the terminal's Ctrl-C directly, but not a plain kill. */
const running = new Set<ChildProcess>();
const ending = new AbortController();
let stopServers: () => Promise<void> = async () => undefined;

async function main(args: string[]): Promise<void> {
  await clearEarlierTests();
  const claim = await claimTestFolder();
  const { tier, rest } = tierOf(args);
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, flaky: [] };
  const add = ({ passed = 0, failed = 0, skipped = 0, flaky = [] }: Partial<Tally>): void => {
    tally.passed += passed;
    tally.failed += failed;
    tally.skipped += skipped;
    tally.flaky.push(...flaky);
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
  // Before the tests, so that the memory of both does not add up.
  if (isWhole(rest) && tier !== 'soak') {
    add(await runChecks({ steps: checkSteps, running, signal: ending.signal }));
  }
  try {
    add(await runTests(tier, rest, claim));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    add({ failed: 1 });
  }
  await cleanUp().catch((error: unknown) => console.error(`clean-up: ${messageOf(error)}`));
  if (tally.skipped > 0) console.log(`${tally.skipped} skipped: their titles say why`);
  for (const flaky of tally.flaky) console.log(`flaky: ${flaky}`);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed === 0 ? 0 : 1);
}

/** Replaces `--related` with test files. Ends the process if there are none. */
function withRelated(args: string[]): string[] {
  if (!args.includes('--related')) return args;
  const { changed, chosen, left } = relatedTests(projectDir);
  if (chosen.length === 0) {
    console.log(`no test depends on ${changed.join(', ')}: name one, or run npm test`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
  console.log(
    `${chosen.length} test ${chosen.length === 1 ? 'file' : 'files'} near ${changed.slice(0, 5).join(', ')}`,
  );
  if (left > 0) console.log(`${left} more depend on it: npm test runs them all`);
  return [...args.filter((arg) => arg !== '--related'), '--runTestsByPath', ...chosen];
}

await main(withRelated(process.argv.slice(2)));
