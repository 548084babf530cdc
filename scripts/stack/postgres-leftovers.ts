import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLineOf, endProcess, identityOf } from './process-identity.ts';

/**
 * A crashed run can leave its server running or its lock file behind. Ends our own server of this cluster, and removes
 * a lock file whose pid now belongs to another process (the server would refuse to start).
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
 * After the server's main process was killed, sessions run until their query ends and block a new server. Such sessions
 * have the cluster's folder as working directory and have lost their parent, unlike those of a server that was just
 * started there.
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
  // Other systems have no such list. There, sessions eventually notice the dead server and end.
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
      // It ended during the check.
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isOrphan);
}
