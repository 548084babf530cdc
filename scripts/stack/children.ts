import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  close,
  closeSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  write,
} from 'node:fs';
import { dirname } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { splitLines } from '#client/lines.ts';

/** A log larger than this many bytes is renamed to `.old` when its process starts. */
const maxLogBytes = 10_000_000;

export interface ChildSpec {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** The signal of `kill`; default: SIGKILL. For a server that must end its own children. */
  killSignal?: NodeJS.Signals;
  /**
   * Opens an IPC channel: the child can report that it is ready, and sees the channel close when this process dies. A
   * message `{notice}` is text for the person at the terminal, which no log may contain.
   */
  ipc?: boolean;
  /**
   * Called for each line of output. Without it, the output goes directly to the log file instead of through this
   * process.
   */
  onLine?: (line: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  name: string;
  pid: number;
  /** Undefined while the process is running. */
  exit: Exit | undefined;
  exited: Promise<Exit>;
  onMessage(listener: (message: unknown) => void): void;
  /** The last lines of its log. */
  tail(lines: number): string[];
  /** Sends the signals in order, each with its time in ms to take effect, and then SIGKILL to its whole group. */
  stop(steps: ReadonlyArray<readonly [signal: NodeJS.Signals, waitMs: number]>): Promise<Exit>;
  /** Ends it without waiting. */
  kill(): void;
}

export function describeExit(exit: Exit): string {
  return exit.signal === null ? `exit code ${exit.code ?? 'unknown'}` : `signal ${exit.signal}`;
}

/**
 * Starts a process in a separate process group, because the terminal sends Ctrl-C to the whole foreground group, but
 * parts must stop in order.
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  setAsideLongLog(spec.logFile);
  const log = openSync(spec.logFile, 'a', 0o600);
  const logStart = statSync(spec.logFile).size;
  const output = spec.onLine === undefined ? log : 'pipe';
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    uid: spec.uid,
    gid: spec.gid,
    detached: true,
    stdio: ['ignore', output, output, ...(spec.ipc === true ? ['ipc' as const] : [])],
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  try {
    await spawned(child);
  } catch (cause) {
    closeSync(log);
    const { message } = cause as Error;
    throw new Error(`${spec.name} could not be started (${spec.command}): ${message}`, { cause });
  }
  child.on('message', (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('notice' in message)) return;
    console.log(String(message.notice));
  });
  // Later errors are failed kills, or sends to a process that has just ended; its exit is reported.
  child.on('error', () => undefined);
  let file: Writable | undefined;
  if (spec.onLine === undefined) closeSync(log);
  else {
    file = logTo(log, spec.name);
    followOutput(child, file, spec.onLine);
  }

  const state: Child = {
    name: spec.name,
    pid: child.pid ?? -1,
    exit: undefined,
    exited: exited.then((exit) => {
      state.exit = exit;
      return exit;
    }),
    onMessage: (listener) => void child.on('message', listener),
    tail: (lines) => lastLines(spec.logFile, logStart, lines),
    kill: () => {
      if (state.exit === undefined) signalGroup(child, spec.killSignal ?? 'SIGKILL');
    },
    async stop(steps) {
      for (const [signal, waitMs] of steps) {
        if (state.exit !== undefined) break;
        child.kill(signal);
        await within(waitMs, state.exited);
      }
      // Also after an orderly exit, to end grandchildren in the group that are still running.
      signalGroup(child, 'SIGKILL');
      return state.exited;
    },
  };
  return state;
}

const spawned = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });

/** Waits for the promise with a timeout, and leaves no timer behind. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is empty.
  }
}

function followOutput(child: ChildProcess, file: Writable, onLine: (line: string) => void): void {
  const follow = async (stream: Readable | null): Promise<void> => {
    if (stream === null) return;
    for await (const line of splitLines(stream)) {
      file.write(`${line}\n`);
      onLine(line);
    }
  };
  // After a broken pipe there is no more output.
  void Promise.allSettled([follow(child.stdout), follow(child.stderr)]).then(() => file.end());
}

/**
 * Writes to an open file. What cannot be written, for example because the disk is full, is lost and reported once: a
 * log must never end the service.
 */
export function logTo(file: number, name: string): Writable {
  let reported = false;
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      write(file, chunk, (error) => {
        if (error !== null && !reported) {
          reported = true;
          console.error(`The log of ${name} cannot be written, lines are lost: ${error.message}`);
        }
        done();
      });
    },
    final: (done) => close(file, done),
  });
}

function setAsideLongLog(path: string): void {
  try {
    if (statSync(path).size > maxLogBytes) renameSync(path, `${path}.old`);
  } catch {
    // There is no log yet.
  }
}

/** Reads at most the last 64 kB, and nothing that an earlier process wrote before `from`. */
function lastLines(path: string, from: number, lines: number): string[] {
  try {
    const { size } = statSync(path);
    const start = Math.max(from, size - 65_536);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const file = openSync(path, 'r');
    try {
      readSync(file, buffer, 0, buffer.length, start);
    } finally {
      closeSync(file);
    }
    return buffer
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-lines);
  } catch {
    return [];
  }
}
