import { Worker } from 'node:worker_threads';
import { AppError, messageOf } from '#shared/errors.ts';

/** What a pool computes, by name. `report` says what the job is doing, for the error if it is terminated. */
type Jobs = Record<string, (input: never, report: never) => Promise<unknown>>;

type InputOf<All extends Jobs, Name extends keyof All> = Parameters<All[Name]>[0];
type OutputOf<All extends Jobs, Name extends keyof All> = Awaited<ReturnType<All[Name]>>;

/** Threads that compute jobs, and are terminated when one exceeds its limits. */
export interface Threads<All extends Jobs> {
  /**
   * Queues and runs a job. Throws WorkLimitError when it exceeds its time or memory, WorkBusyError when too many jobs
   * of the workspace are already waiting (`patient` ones wait anyway), and the signal's reason on abort. `jobMs`: its
   * processor time, instead of the pool's.
   */
  run<Name extends keyof All & string>(
    workspaceId: string,
    name: Name,
    input: InputOf<All, Name>,
    options?: { signal?: AbortSignal; patient?: boolean; jobMs?: number },
  ): Promise<OutputOf<All, Name>>;
  /** Terminates the threads. Unfinished jobs fail. */
  close(): Promise<void>;
}

export interface PoolLimits {
  threads: number;
  /** Processor time of one job. */
  jobMs: number;
  /** Wall-clock time of one job, for a machine that is so busy that the thread hardly runs. */
  jobClockMs: number;
  /** A job that takes longer than this counts as long. */
  longJobMs: number;
  /** Waiting jobs of one workspace. */
  waiting: number;
  memoryMb: number;
  /** An idle thread ends after this long. */
  idleMs: number;
}

/** The code of a pool's threads, and what its jobs are, for the error when too many wait. */
export interface PoolProgram {
  /** Serves the jobs; see `serve.ts`. */
  entry: URL;
  jobs: string;
  /** UTF-16 units of a job's progress text. */
  progress: number;
}

/** A job that exceeded its limit. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
  /** The limit, such as `2000 ms`. */
  readonly limit: string;
  /** What the job was doing, such as a pattern's name; empty when unknown. */
  readonly at: string;
  readonly resource: 'time' | 'memory';

  constructor(limit: string, at: string, resource: 'time' | 'memory' = 'time') {
    super(`it takes more than ${limit}${at === '' ? '' : `, at ${at}`}`);
    this.limit = limit;
    this.at = at;
    this.resource = resource;
  }
}

/** Too many jobs of the workspace are waiting. A later retry may succeed. */
export class WorkBusyError extends AppError {
  constructor(jobs: string) {
    const message = `Too many ${jobs} of this workspace are being computed: try again in a second`;
    super('unavailable', message, { retryAfterSeconds: 1 });
  }
}

/**
 * After a long job, its workspace pauses for twice as long, so that its long jobs take a third of one thread's time. A
 * low priority alone would still slow down everything else on a machine with few processors.
 */
const PAUSES = 2;

/** What a thread answers. `last`: it must not be used again. */
export type Answer = ({ output: unknown } | { problem: string }) & { last?: boolean };

interface Job {
  workspaceId: string;
  message: { name: string; input: unknown };
  jobMs: number;
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

interface Thread {
  worker: Worker;
  /** The progress text of the current job: its length, then UTF-16 units. */
  label: Uint16Array;
  ready: boolean;
  job: Job | undefined;
  /** When the job started, in ms of `performance.now`. */
  began: number;
  clock: NodeJS.Timeout | undefined;
}

class ThreadPool<All extends Jobs> implements Threads<All> {
  private readonly program: PoolProgram;
  private readonly limits: PoolLimits;
  /** Round-robin by workspace: a Map keeps the order of insertion, and a served workspace moves to the end. */
  private readonly queues = new Map<string, Job[]>();
  private readonly threads = new Set<Thread>();
  /** Workspaces whose next job has to wait. */
  private readonly pausing = new Map<string, NodeJS.Timeout>();
  private closed = false;

  constructor(program: PoolProgram, limits: PoolLimits) {
    this.program = program;
    this.limits = limits;
  }

  run<Name extends keyof All & string>(
    workspaceId: string,
    name: Name,
    input: InputOf<All, Name>,
    {
      signal,
      patient = false,
      jobMs = this.limits.jobMs,
    }: { signal?: AbortSignal; patient?: boolean; jobMs?: number } = {},
  ): Promise<OutputOf<All, Name>> {
    if (this.closed) return Promise.reject(new Error('The threads are closed'));
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const queue = this.queues.get(workspaceId) ?? [];
    if (queue.length >= this.limits.waiting && !patient) {
      return Promise.reject(new WorkBusyError(this.program.jobs));
    }
    return new Promise<OutputOf<All, Name>>((resolve, reject) => {
      const job: Job = {
        workspaceId,
        message: { name, input },
        jobMs,
        resolve: (output) => {
          signal?.removeEventListener('abort', abandon);
          resolve(output as OutputOf<All, Name>);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', abandon);
          reject(error as Error);
        },
      };
      const abandon = (): void => this.abandon(job, signal?.reason);
      signal?.addEventListener('abort', abandon, { once: true });
      queue.push(job);
      this.queues.set(workspaceId, queue);
      this.pausing.get(workspaceId)?.ref();
      this.serve();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    const reason = new Error('The threads are closed');
    for (const queue of this.queues.values()) for (const job of queue) job.reject(reason);
    this.queues.clear();
    for (const pause of this.pausing.values()) clearTimeout(pause);
    this.pausing.clear();
    await Promise.all(
      [...this.threads].map((thread) => {
        this.drop(thread, reason);
        return thread.worker.terminate();
      }),
    );
  }

  private start(): Thread {
    const length = 1 + this.program.progress;
    const memory = new SharedArrayBuffer(length * Uint16Array.BYTES_PER_ELEMENT);
    const worker = new Worker(this.program.entry, {
      // The thread gets no environment variables of the service.
      env: {},
      // Reading TypeScript is experimental in Node.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      workerData: { label: memory },
      resourceLimits: { maxOldGenerationSizeMb: this.limits.memoryMb },
    });
    const thread: Thread = {
      worker,
      label: new Uint16Array(memory),
      ready: false,
      job: undefined,
      began: 0,
      clock: undefined,
    };
    worker.on('message', (answer: Answer | 'ready') => {
      if (answer === 'ready') {
        thread.ready = true;
        // Only now, because Node references the thread again when it starts.
        worker.unref();
      } else {
        this.finish(thread, answer);
        if (answer.last === true) this.drop(thread, undefined);
      }
      this.serve();
    });
    worker.on('error', (error: unknown) => {
      const code = (error as { code?: unknown } | null)?.code;
      const reason = code === 'ERR_WORKER_OUT_OF_MEMORY' ? this.overMemory(thread) : error;
      // Otherwise a thread that cannot start would be restarted endlessly for the waiting job.
      if (!thread.ready) this.next()?.reject(reason);
      this.drop(thread, reason);
    });
    worker.on('exit', (code) => {
      this.drop(thread, new Error(`a thread exited with code ${code}`));
      this.serve();
    });
    this.threads.add(thread);
    return thread;
  }

  private overMemory(thread: Thread): WorkLimitError {
    return new WorkLimitError(`${this.limits.memoryMb} MB of memory`, labelOf(thread), 'memory');
  }

  /** The next job, round-robin by workspace, except for workspaces that are pausing or would use every thread. */
  private next(): Job | undefined {
    const busy = new Map<string, number>();
    for (const { job } of this.threads) {
      if (job !== undefined) busy.set(job.workspaceId, (busy.get(job.workspaceId) ?? 0) + 1);
    }
    for (const [workspaceId, queue] of this.queues) {
      if (this.pausing.has(workspaceId)) continue;
      if ((busy.get(workspaceId) ?? 0) >= Math.max(1, this.limits.threads - 1)) continue;
      const job = queue.shift();
      this.queues.delete(workspaceId);
      if (queue.length > 0) this.queues.set(workspaceId, queue);
      return job;
    }
    return undefined;
  }

  private serve(): void {
    if (this.closed) return;
    for (const thread of this.threads) {
      if (!thread.ready || thread.job !== undefined) continue;
      const job = this.next();
      if (job === undefined) {
        this.rest(thread);
        continue;
      }
      this.begin(thread, job);
    }
    const starting = [...this.threads].filter((thread) => !thread.ready).length;
    if (starting === 0 && this.queues.size > 0 && this.threads.size < this.limits.threads) {
      this.start();
    }
  }

  private begin(thread: Thread, job: Job): void {
    clearTimeout(thread.clock);
    thread.job = job;
    thread.began = performance.now();
    thread.label[0] = 0;
    thread.worker.ref();
    try {
      thread.worker.postMessage(job.message);
    } catch (error) {
      // Arguments that cannot be sent are the caller's error.
      this.finish(thread, { problem: messageOf(error) });
      return;
    }
    void this.watch(thread, job);
  }

  /** Gives other workspaces time after a long job. */
  private pauseAfter({ began }: Thread, { workspaceId }: Job): void {
    const ms = performance.now() - began;
    if (this.closed || ms < this.limits.longJobMs) return;
    clearTimeout(this.pausing.get(workspaceId));
    const end = (): void => {
      this.pausing.delete(workspaceId);
      this.serve();
    };
    const pause = setTimeout(end, Math.min(PAUSES * ms, this.limits.jobMs));
    this.pausing.set(workspaceId, pause);
    if (!this.queues.has(workspaceId)) pause.unref();
  }

  /**
   * Terminates the thread when its job exceeds its time. Time in which the system suspends the whole process does not
   * count: a check that comes late adds that much.
   */
  private async watch(thread: Thread, job: Job): Promise<void> {
    const began = performance.now();
    let heldUp = 0;
    const before = await processorMs(thread);
    const look = async (): Promise<void> => {
      const clock = performance.now() - began - heldUp;
      const now = await processorMs(thread);
      if (thread.job !== job) return;
      const used = before === undefined || now === undefined ? clock : now - before;
      if (used < job.jobMs && clock < this.limits.jobClockMs) {
        lookAfter(Math.max(20, job.jobMs - used));
        return;
      }
      this.drop(thread, new WorkLimitError(`${job.jobMs} ms`, labelOf(thread)));
      this.serve();
    };
    const lookAfter = (ms: number): void => {
      const due = performance.now() + ms;
      thread.clock = setTimeout(() => {
        heldUp += Math.max(0, performance.now() - due);
        void look();
      }, ms);
    };
    if (thread.job === job) lookAfter(job.jobMs);
  }

  private finish(thread: Thread, answer: Answer): void {
    const { job } = thread;
    thread.job = undefined;
    clearTimeout(thread.clock);
    thread.worker.unref();
    if (job === undefined) return;
    this.pauseAfter(thread, job);
    if ('problem' in answer) job.reject(new Error(answer.problem));
    else job.resolve(answer.output);
  }

  private rest(thread: Thread): void {
    clearTimeout(thread.clock);
    thread.clock = setTimeout(() => this.drop(thread, undefined), this.limits.idleMs);
    thread.clock.unref();
  }

  private drop(thread: Thread, reason: unknown): void {
    if (!this.threads.delete(thread)) return;
    clearTimeout(thread.clock);
    if (thread.job !== undefined) this.pauseAfter(thread, thread.job);
    thread.job?.reject(reason);
    thread.job = undefined;
    void thread.worker.terminate();
  }

  /** Rejects a job that its caller aborted: terminates its thread, or removes it from the queue. */
  private abandon(job: Job, reason: unknown): void {
    const thread = [...this.threads].find((each) => each.job === job);
    if (thread !== undefined) this.drop(thread, reason);
    else {
      const rest = (this.queues.get(job.workspaceId) ?? []).filter((each) => each !== job);
      if (rest.length > 0) this.queues.set(job.workspaceId, rest);
      else this.queues.delete(job.workspaceId);
      job.reject(reason);
    }
    this.serve();
  }
}

export const createThreads = <All extends Jobs>(
  program: PoolProgram,
  limits: PoolLimits,
): Threads<All> => new ThreadPool<All>(program, limits);

function labelOf({ label }: Thread): string {
  const length = Math.min(label.length - 1, label[0] ?? 0);
  const units = Buffer.from(label.slice(1, 1 + length).buffer);
  return units.toString('utf16le').toWellFormed();
}

/** Undefined where Node does not report it (before 24.6): then wall-clock time counts. */
async function processorMs({ worker }: Thread): Promise<number | undefined> {
  try {
    if (!('cpuUsage' in worker)) return undefined;
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    // The thread has just ended.
    return undefined;
  }
}
