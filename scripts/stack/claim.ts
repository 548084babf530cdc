import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess, identityOf, isAlive } from './process-identity.ts';
import type { RecordedProcess } from './process-identity.ts';
import { serversOf } from './unrecorded-servers.ts';

/**
 * One launcher per data folder. `launcher.json` records the folder's launcher and the servers that it started, with
 * identities that are never reused, so that after a SIGKILL, the next launcher can safely end what is left.
 */
export const claimFile = 'launcher.json';

interface ClaimRecord {
  launcher: RecordedProcess;
  children: RecordedProcess[];
}

export interface Claim {
  folder: string;
  /** The names of an earlier launcher's processes that were still running and have been ended. */
  ended: string[];
  record(name: string, pid: number): void;
  release(): void;
}

export class FolderInUse extends Error {
  override name = 'FolderInUse';
  readonly pid: number;
  constructor(folder: string, pid: number) {
    super(
      `${folder} is in use by a running copy (process ${pid}). Stop that one first, or set DATA_DIR and the ports to other values.`,
    );
    this.pid = pid;
  }
}

function read(path: string): ClaimRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null || !('launcher' in value)) return undefined;
    return value as ClaimRecord;
  } catch {
    return undefined;
  }
}

function write(path: string, record: ClaimRecord): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** Creates the file with its content atomically. False if it exists: unlike rename, link does not overwrite. */
function createExclusively(path: string, record: ClaimRecord): boolean {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

export async function claimFolder(folder: string): Promise<Claim> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, claimFile);
  const self: RecordedProcess = {
    name: 'launcher',
    pid: process.pid,
    identity: identityOf(process.pid) ?? '',
  };
  const record: ClaimRecord = { launcher: self, children: [] };
  const ended: string[] = [];
  while (!createExclusively(path, record)) {
    const earlier = read(path);
    if (earlier !== undefined) {
      if (isAlive(earlier.launcher)) throw new FolderInUse(folder, earlier.launcher.pid);
      ended.push(...(await endLeftovers(folder, earlier)));
    }
    rmSync(path, { force: true });
  }
  return {
    folder,
    ended,
    record(name, pid) {
      const identity = identityOf(pid);
      if (identity === undefined) return;
      record.children.push({ name, pid, identity });
      write(path, record);
    },
    release() {
      rmSync(path, { force: true });
    },
  };
}

/**
 * Ends the processes that a dead launcher of this folder left. Processes that notice their parent's death end first.
 */
async function endLeftovers(folder: string, record: ClaimRecord): Promise<string[]> {
  const recorded = record.children.filter(isAlive);
  const pids = new Set(recorded.map(({ pid }) => pid));
  const alive = [...recorded, ...serversOf(folder).filter(({ pid }) => !pids.has(pid))];
  await Promise.all(
    alive.map((child) =>
      endProcess(
        child,
        child.name === 'postgres'
          ? // Fast shutdown, then immediate: a SIGKILL would leak its shared memory.
            [
              ['SIGINT', 3_000],
              ['SIGQUIT', 3_000],
              ['SIGKILL', 1_000],
            ]
          : [
              ['SIGTERM', 1_000],
              ['SIGKILL', 1_000],
            ],
      ),
    ),
  );
  return alive.map((child) => child.name);
}
