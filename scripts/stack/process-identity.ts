import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process as recorded on disk. The pid alone is not enough, because pids are reused after a reboot or a day. */
export interface RecordedProcess {
  name: string;
  pid: number;
  identity: string;
}

/**
 * A value that is constant for the life of a process and differs for the next process with its pid: start time and
 * boot. Undefined if there is no such process (a zombie does not count).
 */
export function identityOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The command name, in parentheses, can contain spaces and parentheses: fields count from the last one.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
    } catch {
      return undefined;
    }
  }
  return ps(pid, 'lstart=');
}

/** The command line, arguments joined by spaces; undefined if there is no such process. */
export function commandLineOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return undefined;
    }
  }
  return ps(pid, 'command=');
}

function ps(pid: number, column: string): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', column, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return line.trim() || undefined;
  } catch {
    return undefined;
  }
}

export function isAlive(recorded: RecordedProcess): boolean {
  return identityOf(recorded.pid) === recorded.identity;
}

/** Sends each signal in order and waits up to its time for the process to end. True if it has ended. */
export async function endProcess(
  recorded: RecordedProcess,
  steps: ReadonlyArray<readonly [signal: NodeJS.Signals, waitMs: number]>,
): Promise<boolean> {
  for (const [signal, waitMs] of steps) {
    if (!isAlive(recorded)) return true;
    try {
      process.kill(recorded.pid, signal);
    } catch {
      return !isAlive(recorded);
    }
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      if (!isAlive(recorded)) return true;
      await sleep(20);
    }
  }
  return !isAlive(recorded);
}
