import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { provideContractTypes } from '#scripts/client/contract-types.ts';
import { since } from '#scripts/stack/output.ts';

const projectDir = join(import.meta.dirname, '../..');

interface CheckStep {
  name: string;
  /** Path below node_modules, or below the project if it starts with `./`; executed by this Node. */
  script: string;
  args: string[];
  /** Holds the types of a whole program in memory, up to 2 GB. */
  large?: boolean;
}

const tsc = (name: string, buildInfo: string, ...args: string[]): CheckStep => ({
  name,
  script: 'typescript-7/bin/tsc',
  large: true,
  args: [
    '--noEmit',
    '--incremental',
    // Each further checker infers again the types that files share.
    '--checkers',
    '1',
    '--tsBuildInfoFile',
    `.cache/types/${buildInfo}.tsbuildinfo`,
    ...args,
  ],
});

/** Static checks of the sources. The longest come first: they determine the total time. */
export const checkSteps: readonly CheckStep[] = [
  { name: 'lint', script: './scripts/check/lint.ts', args: [], large: true },
  {
    name: 'import law',
    script: 'dependency-cruiser/bin/dependency-cruiser.mjs',
    args: [
      ...[
        '--config',
        'dependency-cruiser.config.mjs',
        '--output-type',
        'err-long',
        '--no-progress',
      ],
      ...[
        'api',
        'worker',
        'workflows',
        'activities',
        'shared',
        'client',
        'cli',
        'console/src',
        'site',
      ],
      ...['scripts', 'bench', 'test', 'docker'],
    ],
  },
  tsc('types', 'service'),
  tsc('types of the console', 'console', '-p', 'console'),
  tsc('types of the site', 'site', '-p', 'site'),
  {
    name: 'unused exports, files and dependencies',
    script: 'knip/bin/knip.js',
    args: [
      '--no-progress',
      '--treat-config-hints-as-errors',
      '--cache',
      '--cache-location',
      '.cache/knip',
    ],
  },
  { name: 'format', script: 'oxfmt/bin/oxfmt', args: ['--check', '.'] },
];

/** Checks of the sources that `npm test` runs as tests: words, locations of files, links. */
export const sourceTests: readonly CheckStep[] = [
  { name: 'words', script: './scripts/check/words.ts', args: [] },
  { name: 'texts of the console', script: './scripts/check/messages.ts', args: [] },
  {
    name: 'folders, links and the Python client',
    script: 'jest/bin/jest.js',
    args: ['--silent', 'test/architecture', 'test/docs/links', 'test/client/python.test'],
  },
];

interface CheckOptions {
  steps: readonly CheckStep[];
  /** The running children, so that a signal can end them. */
  running?: Set<ChildProcess>;
  signal?: AbortSignal;
}

/** Runs every step, two at a time but one large one, and prints a line for each, with the output of failed steps. */
export async function runChecks({
  steps,
  running = new Set(),
  signal,
}: CheckOptions): Promise<{ passed: number; failed: number }> {
  await provideContractTypes(projectDir);
  const tally = { passed: 0, failed: 0 };
  const waiting = [...steps];
  const lane = async (takes: (step: CheckStep) => boolean): Promise<void> => {
    for (;;) {
      const at = waiting.findIndex(takes);
      const [step] = at === -1 ? [] : waiting.splice(at, 1);
      if (step === undefined || signal?.aborted) return;
      if (await passes(step, running)) tally.passed += 1;
      else tally.failed += 1;
    }
  };
  await Promise.all([lane(() => true), lane(({ large }) => large !== true)]);
  return tally;
}

async function passes(
  { name, script, args }: CheckStep,
  running: Set<ChildProcess>,
): Promise<boolean> {
  const started = performance.now();
  const file = script.startsWith('./') ? script : join('node_modules', script);
  const child = spawn(process.execPath, [join(projectDir, file), ...args], {
    cwd: projectDir,
    // The compiler and the linter of types are Go programs: they collect garbage less often.
    env: { ...process.env, GOGC: '150' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  running.delete(child);
  console.log(`${code === 0 ? 'PASS' : 'FAIL'} ${name} (${since(started)})`);
  if (code !== 0) console.log(Buffer.concat(output).toString('utf8').trimEnd());
  return code === 0;
}
