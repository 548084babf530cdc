import { describeExit } from './children.ts';
import type { Child } from './children.ts';
import type { Claim } from './claim.ts';
import { messageOf } from './output.ts';

type PartName = 'api' | 'worker' | 'temporal' | 'postgres';

type Signals = ReadonlyArray<readonly [signal: NodeJS.Signals, waitMs: number]>;

interface Part {
  child: Child;
  signals: Signals;
}

export interface Supervisor {
  /** Adds a part to the stop order. If it ends on its own, all parts stop. */
  add(name: PartName, child: Child, signals: Signals): void;
  /** Removes a part before it is replaced, so that its end is expected. Undefined if there is none. */
  release(name: PartName): Child | undefined;
  pids(): Partial<Record<PartName, number>>;
  /** Reports a failure, like the unexpected end of a part. */
  fail(report: string): void;
  stopAll(): Promise<void>;
  killAll(): void;
}

/** Dependents stop first: the API accepts no more work, the worker finishes, and then their servers stop. */
const stopOrder: readonly PartName[] = ['api', 'worker', 'temporal', 'postgres'];

/** Supervises the started processes. `onCrash` is called once, with a report, if a part ends unexpectedly. */
export function createSupervisor(claim: Claim, onCrash: (report: string) => void): Supervisor {
  const parts = new Map<PartName, Part>();
  let stopping = false;

  const fail = (report: string): void => {
    if (stopping) return;
    stopping = true;
    onCrash(report);
  };

  const watch = async (name: PartName, child: Child): Promise<void> => {
    const exit = await child.exited;
    if (parts.get(name)?.child !== child) return;
    const lines = child.tail(10).map((line) => `  ${readable(line)}`);
    fail([`${name} ended with ${describeExit(exit)}. Its last lines:`, ...lines].join('\n'));
  };

  return {
    add(name, child, signals) {
      if (stopping) {
        child.kill();
        return;
      }
      parts.set(name, { child, signals });
      claim.record(name, child.pid);
      void watch(name, child);
    },
    fail,
    release(name) {
      const child = parts.get(name)?.child;
      parts.delete(name);
      return child;
    },
    pids() {
      return Object.fromEntries([...parts].map(([name, { child }]) => [name, child.pid]));
    },
    async stopAll() {
      stopping = true;
      for (const name of stopOrder) {
        const part = parts.get(name);
        if (part !== undefined) await part.child.stop(part.signals);
      }
    },
    killAll() {
      stopping = true;
      for (const { child } of parts.values()) child.kill();
    },
  };
}

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const warn = 40;

interface LogEntry {
  level?: number;
  msg?: string;
  err?: { message?: string };
}

function parseEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A part's log line for people: level and message of a JSON line, anything else unchanged. */
export function readable(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const message = entry.msg ?? '';
  const cause = entry.err?.message ?? '';
  const text = message.includes(cause) ? message : [message, cause].filter(Boolean).join(': ');
  return text === '' ? line : `${levels[entry.level ?? 0] ?? ''} ${text}`.trim();
}

/** Warnings and above, and lines that are not log entries (a stack trace, a message of the runtime). */
export function concernsTerminal(line: string): boolean {
  if (line.trim() === '') return false;
  // The level comes first in a pino line. Most lines are below warning, and need no parsing.
  const level = /^\{"level":(\d+)/.exec(line)?.[1];
  if (level !== undefined) return Number(level) >= warn;
  const entry = parseEntry(line);
  return entry === undefined || (entry.level ?? warn) >= warn;
}

/** Resolves with the message of a child that sends `{ready: true}` over its channel; rejects if it ends first. */
export async function readyMessage(
  child: Child,
  timeoutMs: number,
): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const said = new Promise<Record<string, unknown>>((resolve) => {
    child.onMessage((message) => {
      if (
        typeof message === 'object' &&
        message !== null &&
        'ready' in message &&
        message.ready === true
      ) {
        resolve({ ...message });
      }
    });
  });
  const ended = child.exited.then((exit): never => {
    throw new Error(`${child.name} ended with ${describeExit(exit)} before it was ready`);
  });
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${child.name} was not ready after ${timeoutMs / 1_000} s`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([said, ended, late]);
  } catch (error) {
    throw new Error(messageOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
