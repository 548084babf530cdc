import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLineOf, endProcess, identityOf } from './process-identity.ts';

/**
 * A crashed run can leave its server running or its lock file behind. Our own server of this cluster is ended; a lock
 * file whose pid now belongs to something else is removed (the server would refuse to start over it).
 */
export async function clearEarlierServer(clusterDir: string): Promise<void> {
  const lockFile = join(clusterDir, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined;
  if (identity === undefined) {
    await endOrphans(clusterDir);
    return;
  }
  const commandLine = commandLineOf(pid) ?? '';
  if (!commandLine.includes('postgres') || !commandLine.includes(clusterDir)) {
    rmSync(lockFile, { force: true });
    return;
  }
  const ended = await endProcess({ name: 'postgres', pid, identity }, [
    ['SIGINT', 3_000],
    ['SIGQUIT', 2_000],
  ]);
  if (!ended) {
    throw new Error(`An earlier database server (process ${pid}) on ${clusterDir} does not stop.`);
  }
}

/**
 * When the server's main process is killed, sessions in the middle of a query go on until it ends, and no new server
 * starts beside them. Each of them sits in the cluster's folder and has lost its parent; those of a server that has
 * just been started there have one.
 */
export async function endOrphans(clusterDir: string): Promise<void> {
  await Promise.all(
    orphansIn(clusterDir).map((pid) =>
      endProcess({ name: 'postgres session', pid, identity: identityOf(pid) ?? '' }, [
        ['SIGQUIT', 1_000],
        ['SIGKILL', 1_000],
      ]),
    ),
  );
}

function orphansIn(clusterDir: string): number[] {
  // Elsewhere there is no such list; the sessions' own check for a dead server ends them sooner or later.
  if (process.platform !== 'linux' || !existsSync(clusterDir)) return [];
  const folder = realpathSync(clusterDir);
  const isOrphan = (pid: number): boolean => {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== folder) return false;
      if (commandLineOf(pid)?.startsWith('postgres: ') !== true) return false;
      const parent = Number(
        /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
      );
      return commandLineOf(parent)?.includes(clusterDir) !== true;
    } catch {
      // It ended while we looked.
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isOrphan);
}
