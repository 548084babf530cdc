import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startChild, type Child, type ChildSpec } from '#scripts/stack/children.ts';
import type { Claim } from '#scripts/stack/claim.ts';
import { messageOf } from '#scripts/stack/output.ts';
import { readyMessage } from '#scripts/stack/supervisor.ts';
import {
  claimTemporaryFolder,
  clearEarlierRuns,
  removeFolder,
} from '#scripts/stack/temporary-folder.ts';

export const projectDir = join(import.meta.dirname, '..');
const folderPrefix = 'durable-workflows-bench-';
/** Data folder of the timed `npm start`, below the folder of the run. */
export const startFolder = 'start';
const readyTimeoutMs = 60_000;

type Signals = ReadonlyArray<readonly [signal: NodeJS.Signals, waitMs: number]>;

/** Everything that a benchmark run starts and writes, so that all of it can be removed, also after Ctrl-C. */
export interface Processes {
  /** Created under the system's temporary folder and removed at the end. */
  folder: string;
  claim: Claim;
  /** Registers a child. Children stop in reverse order: with these signals, or by calling the function. */
  keep(child: Child, how: Signals | (() => Promise<void>)): void;
  /** Starts a Node process and waits until it reports that it is ready. */
  startNode(spec: NodeSpec): Promise<Child>;
  stop(child: Child): Promise<void>;
  stopAll(): Promise<void>;
  /** Whether `stopAll` has begun: later failures are caused by the shutdown. */
  stopping(): boolean;
  killAll(): void;
}

interface NodeSpec extends Pick<ChildSpec, 'name' | 'env'> {
  /** Path of the program in the project's folder. */
  script: string;
  nodeOptions?: string[];
}

export async function createProcesses(): Promise<Processes> {
  await clearEarlierRuns(folderPrefix, removeWithDatabases);
  const claim = await claimTemporaryFolder(folderPrefix);
  const kept: { child: Child; stop: () => Promise<unknown> }[] = [];
  let stopping = false;
  const keep: Processes['keep'] = (child, how) => {
    if (stopping) {
      child.kill();
      return;
    }
    kept.push({ child, stop: typeof how === 'function' ? how : () => child.stop(how) });
    claim.record(child.name, child.pid);
  };
  const stop = async (child: Child): Promise<void> => {
    const index = kept.findIndex((entry) => entry.child === child);
    if (index < 0) return;
    const [entry] = kept.splice(index, 1);
    await entry?.stop();
  };
  return {
    folder: claim.folder,
    claim,
    keep,
    stop,
    startNode: async ({ name, script, env, nodeOptions = [] }) => {
      const child = await startChild({
        name,
        command: process.execPath,
        args: [...nodeFlags, ...nodeOptions, join(projectDir, script)],
        cwd: projectDir,
        env,
        logFile: join(claim.folder, 'logs', `${name}.log`),
        ipc: true,
      });
      keep(child, [['SIGTERM', 5_000]]);
      try {
        await readyMessage(child, readyTimeoutMs);
      } catch (error) {
        throw new Error([messageOf(error), ...child.tail(10)].join('\n'), { cause: error });
      }
      return child;
    },
    stopAll: async () => {
      stopping = true;
      for (const { child } of [...kept].reverse()) await stop(child);
      claim.release();
      removeWithDatabases(claim.folder);
    },
    stopping: () => stopping,
    killAll: () => {
      for (const { child } of kept) child.kill();
    },
  };
}

/** Also removes databases stored elsewhere because the server's account could not enter the folder. */
function removeWithDatabases(folder: string): void {
  for (const link of [join(folder, 'postgres'), join(folder, startFolder, 'postgres')]) {
    if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    rmSync(dirname(readlinkSync(link)), { recursive: true, force: true });
  }
  removeFolder(folder);
}

/** Processor time of a process and its current children, in ms; undefined without /proc. */
export function cpuMs(pid: number): number | undefined {
  const own = cpuOf(pid);
  if (own === undefined) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(Number(name)) === pid);
  return children.reduce((sum, child) => sum + (cpuOf(Number(child)) ?? 0), own);
}

/** The fields of /proc/<pid>/stat after the program's name, which can contain any character. */
function stat(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return undefined;
  }
}

function parentOf(pid: number): number | undefined {
  const fields = stat(pid);
  return fields === undefined ? undefined : Number(fields[1]);
}

/** User and system time, including children that ended, in ticks of 10 ms. */
function cpuOf(pid: number): number | undefined {
  const fields = stat(pid);
  if (fields === undefined) return undefined;
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}
