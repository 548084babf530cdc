import { availableParallelism } from 'node:os';
import { moduleUrl } from '#shared/platform/module-url.ts';
import {
  createThreads,
  type PoolLimits,
  type Threads,
  WorkLimitError,
} from '#shared/platform/threads/pool.ts';
import { MAX_OUTPUT_BYTES } from './prelude.ts';
import type { CodeJob, CodeResult } from './sandbox.ts';
import type { jobs } from './thread.ts';

type CodeThreads = Threads<typeof jobs>;

/** The result of code, and what it logged. */
export interface CodeRun {
  result: CodeResult;
  /** At most 64 kB, and a line that says so when there was more. */
  log: string;
  /** What it used up. */
  exceeded?: 'time' | 'memory' | undefined;
}

const LIMITS: PoolLimits = {
  // At least two, so that one tenant can never use all of them.
  threads: Math.min(4, Math.max(2, availableParallelism())),
  jobMs: 2_000,
  jobClockMs: 60_000,
  longJobMs: 200,
  waiting: 50,
  // The sandbox is limited by itself; this is what surrounds it, and what reads TypeScript.
  memoryMb: 256,
  idleMs: 60_000,
};

/** UTF-16 units of a log. */
const MAX_LOG = 65_535;

const PROGRAM = {
  entry: moduleUrl('./thread.ts', import.meta.url),
  jobs: 'code steps',
  progress: MAX_LOG,
};

export const createCodeThreads = (given: Partial<PoolLimits> = {}): CodeThreads =>
  createThreads(PROGRAM, { ...LIMITS, ...given });

/** The threads of this process. They start on demand, and do not keep the process alive. */
const codeThreads: CodeThreads = createCodeThreads();

/**
 * Runs code of a workspace in a sandbox, on a thread that is terminated when it has used `seconds` of processor time: an
 * interrupt alone would not stop it within a single operation. Throws WorkBusyError, and the signal's reason on abort.
 */
export async function runCode(
  workspaceId: string,
  job: CodeJob,
  {
    seconds,
    signal,
    threads = codeThreads,
  }: { seconds: number; signal?: AbortSignal; threads?: CodeThreads },
): Promise<CodeRun> {
  try {
    const options = { jobMs: seconds * 1_000, ...(signal && { signal }) };
    const { result, log } = await threads.run(workspaceId, 'run', job, options);
    const spent = 'problem' in result && result.outOfMemory === true;
    return { result: checked(result), log: withEnd(log), exceeded: spent ? 'memory' : undefined };
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    const message =
      error.resource === 'memory'
        ? `It needs more than ${error.limit}`
        : `It used more than ${seconds} s of processor time`;
    return { result: { problem: { message } }, log: withEnd(error.at), exceeded: error.resource };
  }
}

const withEnd = (log: string): string =>
  log.length < MAX_LOG ? log : `${log}\n[The log was cut at 64 kB]`;

function checked(result: CodeResult): CodeResult {
  if ('problem' in result || Buffer.byteLength(result.output) <= MAX_OUTPUT_BYTES) return result;
  return { problem: { message: 'RangeError: It returned more than 1 MB' } };
}
