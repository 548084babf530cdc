import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { keepDurations } from '#scripts/related/durations.ts';
import { longTests } from './long-tests.ts';

/** Jest should exit after its last test. Open handles are leaks in the tests. */
const EXIT_GRACE_MS = 20_000;

/** If more files failed, a change is at fault, not an unlucky timing. */
const MAX_REPEATED_FILES = 5;

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** `<file> <title>` of each test that failed, and passed when its file ran again alone. */
  flaky: string[];
}

interface FileResult {
  name: string;
  status: 'passed' | 'failed';
  startTime: number;
  endTime: number;
  assertionResults: { status: string; fullName: string; duration?: number | null }[];
}

interface Results {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  numPendingTests: number;
  testResults: FileResult[];
}

export interface JestOptions {
  projectDir: string;
  env: NodeJS.ProcessEnv;
  /** The folder for its results. */
  folder: string;
  /** The processes to end on a signal. */
  running: Set<ChildProcess>;
  say: (line: string) => void;
  /** Whether tests outside the soak have a time limit. Not if their races run in all rounds. */
  limited?: boolean;
}

/**
 * Runs jest. With `repeats`, each file that failed or took too long runs once more, alone: if it passes then, its failures
 * count as passed and are `flaky`.
 */
export async function runJest(
  args: readonly string[],
  options: JestOptions,
  { repeats }: { repeats: boolean },
): Promise<Tally> {
  const first = await runOnce(args, options);
  const tally = tallyOf(first, options);
  const suspects = (first.results?.testResults ?? [])
    .map((file) => ({ ...file, long: longOf([file], options) }))
    .filter(({ status, long }) => status === 'failed' || long.length > 0);
  if (!repeats || suspects.length > MAX_REPEATED_FILES) return tally;
  for (const file of suspects) {
    const path = relative(options.projectDir, file.name);
    options.say(`${path} runs again, alone`);
    const again = tallyOf(await runOnce(['--runTestsByPath', path], options), options);
    if (again.failed > 0) continue;
    const titles = file.assertionResults.filter(({ status }) => status === 'failed');
    const unloaded = file.status === 'failed' && titles.length === 0;
    // A file that could not be loaded counts as one failure, and none of its tests has run.
    tally.passed += unloaded ? again.passed : titles.length;
    tally.failed -= file.long.length + (unloaded ? 1 : titles.length);
    tally.flaky.push(
      ...(unloaded ? [path] : titles.map(({ fullName }) => `${path} ${fullName}`)),
      ...file.long,
    );
  }
  return tally;
}

interface Outcome {
  exit: number | null | 'hung';
  results: Results | undefined;
}

async function runOnce(
  args: readonly string[],
  { projectDir, env, folder, running, say }: JestOptions,
): Promise<Outcome> {
  const outputFile = join(folder, 'jest-results.json');
  rmSync(outputFile, { force: true });
  const colour = process.stderr.isTTY ? ['--colors'] : [];
  const child = spawn(
    process.execPath,
    [
      // Its processes have small heaps; jest passes the flag on to them.
      '--max-semi-space-size=16',
      join(projectDir, 'node_modules/jest/bin/jest.js'),
      ...args,
      '--json',
      `--outputFile=${outputFile}`,
      ...colour,
    ],
    { cwd: projectDir, env, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  running.add(child);
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!line.startsWith('Test results written to')) say(line);
  });
  const hung = new Promise<'hung'>((resolve) => {
    const watch = setInterval(() => {
      if (child.exitCode !== null || child.signalCode !== null) clearInterval(watch);
      else if (existsSync(outputFile)) {
        clearInterval(watch);
        setTimeout(() => resolve('hung'), EXIT_GRACE_MS).unref();
      }
    }, 500);
    watch.unref();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const exit = await Promise.race([ended, hung]);
  if (exit === 'hung') {
    child.kill('SIGKILL');
    await ended;
  }
  running.delete(child);
  const results = existsSync(outputFile)
    ? (JSON.parse(readFileSync(outputFile, 'utf8')) as Results)
    : undefined;
  return { exit, results };
}

const longOf = (files: readonly FileResult[], { limited, projectDir }: JestOptions): string[] =>
  limited === true ? longTests(files, projectDir) : [];

/** An unreliable run counts as one more failure, even if its tests passed, and so does each test that takes too long. */
function tallyOf({ exit, results }: Outcome, options: JestOptions): Tally {
  if (results === undefined) {
    console.error(`jest ended with exit code ${exit ?? 'none (killed)'} and left no result`);
    return { passed: 0, failed: 1, skipped: 0, flaky: [] };
  }
  keepDurations(options.projectDir, results.testResults);
  const tally = {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests,
    flaky: [],
  };
  const long = longOf(results.testResults, options);
  for (const line of long) console.error(line);
  tally.failed += long.length;
  if (exit === 'hung') {
    console.error(
      'jest did not end after its last test: a test leaves something open (see --detectOpenHandles)',
    );
    tally.failed += 1;
  } else if (tally.passed + tally.failed === 0) {
    console.error('jest ran no test');
    tally.failed += 1;
  } else if (tally.failed === 0 && (exit !== 0 || !results.success)) {
    console.error(`jest ended with exit code ${exit ?? 'none (killed)'} although no test failed`);
    tally.failed += 1;
  }
  return tally;
}
