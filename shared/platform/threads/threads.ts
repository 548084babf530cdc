import { availableParallelism } from 'node:os';
import { moduleUrl } from '#shared/platform/module-url.ts';
import type { jobs } from './jobs.ts';
import { createThreads, type PoolLimits, type Threads } from './pool.ts';

export { WorkBusyError, WorkLimitError } from './pool.ts';

/**
 * Threads for work that tenants can make expensive: regular expressions, JSON Schemas, expressions over large texts,
 * large graphs. They keep it from blocking the threads of requests, activities and workflow tasks.
 */
export type WorkThreads = Threads<typeof jobs>;

export type WorkThreadLimits = PoolLimits;

const LIMITS: WorkThreadLimits = {
  // At least two, so that one tenant can never use all of them.
  threads: Math.min(4, Math.max(2, availableParallelism())),
  jobMs: 2_000,
  jobClockMs: 30_000,
  longJobMs: 20,
  waiting: 10,
  memoryMb: 256,
  idleMs: 60_000,
};

const PROGRAM = {
  entry: moduleUrl('./thread.ts', import.meta.url),
  jobs: 'expressions, patterns or schemas',
  progress: 200,
};

export const createWorkThreads = (given: Partial<WorkThreadLimits> = {}): WorkThreads =>
  createThreads(PROGRAM, { ...LIMITS, ...given });

/**
 * Threads for documents of many megabytes. One can take seconds, and expressions and schemas do not wait for it. A workspace
 * has one at a time.
 */
export const documentThreads: WorkThreads = createThreads(
  { ...PROGRAM, jobs: 'documents' },
  {
    ...LIMITS,
    threads: 2,
    jobMs: 20_000,
    // It takes no turns of others, so that it need not pause.
    longJobMs: Infinity,
    waiting: 2,
    memoryMb: 512,
    idleMs: 10_000,
  },
);

/** The threads of this process. They start on demand, and do not keep the process alive. */
export const workThreads: WorkThreads = createWorkThreads();
