import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError, messageOf } from '../../errors.ts';
import type { JobInput, JobName, JobOutput } from './jobs.ts';

/**
 * Threads for what tenants can make expensive: regular expressions, JSON Schemas, expressions over large texts, large
 * graphs. The threads that take requests, activities and workflow tasks do none of it themselves, so it holds nobody up.
 */
export interface WorkThreads {
  /**
   * Does a job in turn. Throws WorkLimitError when it takes more time or memory than a job may, WorkBusyError when too
   * many jobs of the workspace wait already (`patient` ones wait all the same), and the signal's reason on abort.
   */
  run<Name extends JobName>(
    workspaceId: string,
    name: Name,
    input: JobInput<Name>,
    options?: { signal?: AbortSignal; patient?: boolean },
  ): Promise<JobOutput<Name>>;
  /** Ends the threads; jobs that are not done fail. */
  close(): Promise<void>;
}

export interface WorkThreadLimits {
  threads: number;
  /** Processor time of one job. */
  jobMs: number;
  /** Time of one job by the clock, for a machine so busy that the thread hardly runs. */
  jobClockMs: number;
  /** A job that takes this long is a long one. */
  longJobMs: number;
  /** Jobs of one workspace that may wait. */
  waiting: number;
  memoryMb: number;
  /** A thread with nothing to do ends after this long. */
  idleMs: number;
}

const LIMITS: WorkThreadLimits = {
  // With two, one tenant can never have all of them.
  threads: Math.min(4, Math.max(2, availableParallelism())),
  jobMs: 2_000,
  jobClockMs: 30_000,
  longJobMs: 20,
  waiting: 10,
  memoryMb: 256,
  idleMs: 60_000,
};

/** A job that took more than it may. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
  /** What it was at, a pattern's name for instance; empty when it did not say. */
  readonly at: string;

  constructor(what: string, at: string) {
    super(`it takes more than ${what}${at === '' ? '' : `, at ${at}`}`);
    this.at = at;
  }
}

/** Too many jobs of the workspace wait; trying again later helps. */
export class WorkBusyError extends AppError {
  constructor() {
    super(
      'unavailable',
      'Too many expressions, patterns or schemas of this workspace are being computed: try again in a second',
      { retryAfterSeconds: 1 },
    );
  }
}

/**
 * After a long job its workspace pauses for twice as long, so that its long jobs take a third of one thread's time. A low
 * priority alone does not keep them from slowing everything else on a machine of few processors.
 */
const PAUSES = 2;

/** Characters of what a job says it is at. */
const MAX_LABEL = 200;
/** In the image the sources are compiled, this one and that. */
const THREAD = new URL(
  './thread.ts'.replace(/\.ts$/, extname(import.meta.filename)),
  import.meta.url,
);

interface Job {
  workspaceId: string;
  message: { name: JobName; input: unknown };
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

interface Thread {
  worker: Worker;
  /** What the job under way says it is at: its length, then UTF-16 units. */
  label: Uint16Array;
  ready: boolean;
  job: Job | undefined;
  /** When the job began, in ms of `performance.now`. */
  began: number;
  clock: NodeJS.Timeout | undefined;
}

export function createWorkThreads(given: Partial<WorkThreadLimits> = {}): WorkThreads {
  const limits = { ...LIMITS, ...given };
  /** The turns go round by workspace: a Map keeps the order of insertion, and whoever was served goes to its end. */
  const queues = new Map<string, Job[]>();
  const threads = new Set<Thread>();
  /** Workspaces whose next job has to wait. */
  const pausing = new Map<string, NodeJS.Timeout>();
  let closed = false;

  function start(): Thread {
    const memory = new SharedArrayBuffer((1 + MAX_LABEL) * Uint16Array.BYTES_PER_ELEMENT);
    const worker = new Worker(THREAD, {
      // Nothing of ours is in reach of what is computed there.
      env: {},
      workerData: { label: memory },
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb },
    });
    const thread: Thread = {
      worker,
      label: new Uint16Array(memory),
      ready: false,
      job: undefined,
      began: 0,
      clock: undefined,
    };
    worker.on('message', (answer: { output: unknown } | { problem: string } | 'ready') => {
      if (answer === 'ready') {
        thread.ready = true;
        // Not before: Node counts the thread again when it is up.
        worker.unref();
      } else finish(thread, answer);
      serve();
    });
    worker.on('error', (error: unknown) => {
      const code = (error as { code?: unknown } | null)?.code;
      const reason = code === 'ERR_WORKER_OUT_OF_MEMORY' ? overMemory(thread) : error;
      // A thread that cannot even start would be started again and again for the job that waits.
      if (!thread.ready) next()?.reject(reason);
      drop(thread, reason);
    });
    worker.on('exit', (code) => {
      drop(thread, new Error(`a thread ended by itself with ${code}`));
      serve();
    });
    threads.add(thread);
    return thread;
  }

  const overMemory = (thread: Thread): WorkLimitError =>
    new WorkLimitError(`${limits.memoryMb} MB of memory`, labelOf(thread));

  /** The next job, in turn by workspace, of those that leave a thread to the others. */
  function next(): Job | undefined {
    const busy = new Map<string, number>();
    for (const { job } of threads) {
      if (job !== undefined) busy.set(job.workspaceId, (busy.get(job.workspaceId) ?? 0) + 1);
    }
    for (const [workspaceId, queue] of queues) {
      if (pausing.has(workspaceId)) continue;
      if ((busy.get(workspaceId) ?? 0) >= Math.max(1, limits.threads - 1)) continue;
      const job = queue.shift();
      queues.delete(workspaceId);
      if (queue.length > 0) queues.set(workspaceId, queue);
      return job;
    }
    return undefined;
  }

  function serve(): void {
    if (closed) return;
    for (const thread of threads) {
      if (!thread.ready || thread.job !== undefined) continue;
      const job = next();
      if (job === undefined) {
        rest(thread);
        continue;
      }
      begin(thread, job);
    }
    const starting = [...threads].filter((thread) => !thread.ready).length;
    if (starting === 0 && queues.size > 0 && threads.size < limits.threads) start();
  }

  function begin(thread: Thread, job: Job): void {
    clearTimeout(thread.clock);
    thread.job = job;
    thread.began = performance.now();
    thread.label[0] = 0;
    thread.worker.ref();
    try {
      thread.worker.postMessage(job.message);
    } catch (error) {
      // What cannot be sent over is the caller's mistake.
      finish(thread, { problem: messageOf(error) });
      return;
    }
    void watch(thread, job);
  }

  /** Lets other workspaces have the machine after a long job. */
  function pauseAfter({ began }: Thread, { workspaceId }: Job): void {
    const ms = performance.now() - began;
    if (closed || ms < limits.longJobMs) return;
    clearTimeout(pausing.get(workspaceId));
    const end = (): void => {
      pausing.delete(workspaceId);
      serve();
    };
    const pause = setTimeout(end, Math.min(PAUSES * ms, limits.jobMs));
    pausing.set(workspaceId, pause);
    if (!queues.has(workspaceId)) pause.unref();
  }

  /** Ends the thread when its job has had its time. */
  async function watch(thread: Thread, job: Job): Promise<void> {
    const began = performance.now();
    const before = await processorMs(thread);
    const look = async (): Promise<void> => {
      const clock = performance.now() - began;
      const now = await processorMs(thread);
      if (thread.job !== job) return;
      const used = before === undefined || now === undefined ? clock : now - before;
      if (used < limits.jobMs && clock < limits.jobClockMs) {
        thread.clock = setTimeout(() => void look(), Math.max(20, limits.jobMs - used));
        return;
      }
      drop(thread, new WorkLimitError(`${limits.jobMs} ms`, labelOf(thread)));
      serve();
    };
    if (thread.job === job) thread.clock = setTimeout(() => void look(), limits.jobMs);
  }

  function finish(thread: Thread, answer: { output: unknown } | { problem: string }): void {
    const { job } = thread;
    thread.job = undefined;
    clearTimeout(thread.clock);
    thread.worker.unref();
    if (job === undefined) return;
    pauseAfter(thread, job);
    if ('problem' in answer) job.reject(new Error(answer.problem));
    else job.resolve(answer.output);
  }

  function rest(thread: Thread): void {
    clearTimeout(thread.clock);
    thread.clock = setTimeout(() => drop(thread, undefined), limits.idleMs);
    thread.clock.unref();
  }

  function drop(thread: Thread, reason: unknown): void {
    if (!threads.delete(thread)) return;
    clearTimeout(thread.clock);
    if (thread.job !== undefined) pauseAfter(thread, thread.job);
    thread.job?.reject(reason);
    thread.job = undefined;
    void thread.worker.terminate();
  }

  return {
    run: <Name extends JobName>(
      workspaceId: string,
      name: Name,
      input: JobInput<Name>,
      { signal, patient = false }: { signal?: AbortSignal; patient?: boolean } = {},
    ) => {
      if (closed) return Promise.reject(new Error('The threads are closed'));
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      const queue = queues.get(workspaceId) ?? [];
      if (queue.length >= limits.waiting && !patient) return Promise.reject(new WorkBusyError());
      return new Promise<JobOutput<Name>>((resolve, reject) => {
        const job: Job = {
          workspaceId,
          message: { name, input },
          resolve: (output) => {
            signal?.removeEventListener('abort', giveUp);
            resolve(output as JobOutput<Name>);
          },
          reject: (error) => {
            signal?.removeEventListener('abort', giveUp);
            reject(error as Error);
          },
        };
        const giveUp = (): void => {
          const thread = [...threads].find((each) => each.job === job);
          if (thread !== undefined) drop(thread, signal?.reason);
          else {
            const rest = (queues.get(workspaceId) ?? []).filter((each) => each !== job);
            if (rest.length > 0) queues.set(workspaceId, rest);
            else queues.delete(workspaceId);
            job.reject(signal?.reason);
          }
          serve();
        };
        signal?.addEventListener('abort', giveUp, { once: true });
        queue.push(job);
        queues.set(workspaceId, queue);
        pausing.get(workspaceId)?.ref();
        serve();
      });
    },
    close: async () => {
      closed = true;
      const reason = new Error('The threads are closed');
      for (const queue of queues.values()) for (const job of queue) job.reject(reason);
      queues.clear();
      for (const pause of pausing.values()) clearTimeout(pause);
      pausing.clear();
      await Promise.all(
        [...threads].map((thread) => {
          drop(thread, reason);
          return thread.worker.terminate();
        }),
      );
    },
  };
}

function labelOf({ label }: Thread): string {
  const length = Math.min(MAX_LABEL, label[0] ?? 0);
  return String.fromCharCode(...label.subarray(1, 1 + length)).toWellFormed();
}

/** Undefined where Node does not tell (before 24.6): then the clock counts. */
async function processorMs({ worker }: Thread): Promise<number | undefined> {
  try {
    if (!('cpuUsage' in worker)) return undefined;
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    // It has just ended.
    return undefined;
  }
}

/** The threads of this process. They start when there is work for them, and do not keep the process from ending. */
export const workThreads: WorkThreads = createWorkThreads();
