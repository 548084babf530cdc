import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { migrate } from '../shared/db/migrate.ts';
import type { Claim } from './stack/claim.ts';
import { createTemplate, dropDatabase } from './stack/databases.ts';
import { cleanEnvironment } from './stack/environment.ts';
import { messageOf, since } from './stack/output.ts';
import { removeFolder } from './stack/temporary-folder.ts';
import { claimTestFolder, clearEarlierTests, startTestServers } from './stack/test-servers.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';

/**
 * `npm test [-- <jest arguments>]`: one throwaway Postgres and one Temporal server for all test files, a migrated
 * template database that each file clones, the workflow bundle built once, then jest. Without arguments typecheck,
 * lint and format check run too and count as a step each. The last line is always `N passed, N failed`.
 */
const projectDir = join(import.meta.dirname, '..');

/** After its last test jest should just end; what is still open then is a leak of the tests. */
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
    // A proxy of the machine must not be asked for servers on this machine.
    no_grpc_proxy: '127.0.0.1,localhost',
    // Hundreds of processes of ours are started, each of which would parse and compile the same files.
    NODE_COMPILE_CACHE: join(projectDir, '.cache', 'compiled'),
    // Jest runs ES modules through this flag; its own worker processes inherit it.
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`,
  };
}

const staticSteps = {
  typecheck: [
    'typescript/bin/tsc',
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    '.cache/tsc.tsbuildinfo',
  ],
  'typecheck of the console': ['typescript/bin/tsc', '-p', 'console'],
  'typecheck of its tests': ['typescript/bin/tsc', '-p', 'test/console'],
  // No cache: rules that read types change their verdict when another file changes.
  lint: ['eslint/bin/eslint.js', '.', '--max-warnings', '0'],
  format: [
    'prettier/bin/prettier.cjs',
    '--check',
    '.',
    '--cache',
    '--cache-location',
    '.cache/prettier',
  ],
} as const;

function runStaticStep(name: keyof typeof staticSteps): Promise<boolean> {
  const started = performance.now();
  const [script, ...args] = staticSteps[name];
  const child = spawn(process.execPath, [join(projectDir, 'node_modules', script), ...args], {
    cwd: projectDir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  // One that could not be started has no pid; its 'error' event says why.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      const passed = code === 0;
      console.log(`${passed ? 'PASS' : 'FAIL'} ${name} (${since(started)})`);
      if (!passed) console.log(Buffer.concat(output).toString('utf8').trimEnd());
      resolve(passed);
    });
  });
}

/** One after the other and behind everything else, beside the tests: in what their waiting leaves of the processors. */
async function runStaticSteps(): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  for (const name of Object.keys(staticSteps) as (keyof typeof staticSteps)[]) {
    if (ending) break;
    if (await runStaticStep(name)) tally.passed += 1;
    else tally.failed += 1;
  }
  return tally;
}

interface JestResults {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  numPendingTests: number;
}

async function runJest(args: string[], env: NodeJS.ProcessEnv, folder: string): Promise<Tally> {
  const outputFile = join(folder, 'jest-results.json');
  const colour = process.stderr.isTTY ? ['--colors'] : [];
  const child = spawn(
    process.execPath,
    [
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

/** A run that cannot be trusted counts as one failure more, whatever its tests said. */
function tallyOf(outcome: number | null | 'hung', outputFile: string): Tally {
  if (!existsSync(outputFile)) {
    console.error(`jest ended with exit code ${outcome ?? 'none (killed)'} and left no result`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const results = JSON.parse(readFileSync(outputFile, 'utf8')) as JestResults;
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

/** What a signal has to end: children that share our terminal get its Ctrl-C by themselves, but not a plain kill. */
const running = new Set<ReturnType<typeof spawn>>();
let ending = false;
let stopServers: () => Promise<void> = async () => undefined;

async function main(args: string[]): Promise<void> {
  await clearEarlierTests();
  const claim = await claimTestFolder();
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const add = ({ passed, failed, skipped }: Tally): void => {
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
      ending = true;
      for (const child of running) child.kill('SIGTERM');
      void cleanUp().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  const beside = args.length === 0 ? runStaticSteps() : undefined;
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

await main(process.argv.slice(2));
