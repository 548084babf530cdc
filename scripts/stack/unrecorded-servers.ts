import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { identityOf, type RecordedProcess } from './process-identity.ts';

/**
 * The servers that run on the databases of a data folder, by their arguments. A launcher that was killed between the start
 * of a server and its record has not recorded it, and the server keeps its port and its files.
 */
export function serversOf(folder: string): RecordedProcess[] {
  // Other systems have no such list. There, the next start reports that the port is taken.
  if (process.platform !== 'linux') return [];
  const cluster = join(folder, 'postgres');
  const servers = [
    { name: 'temporal', flag: '--db-filename', paths: [join(folder, 'temporal.db')] },
    { name: 'postgres', flag: '-D', paths: [cluster, ...linked(cluster)] },
  ];
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .flatMap((pid) => {
      const [program = '', ...args] = argumentsOf(pid);
      const server = servers.find(
        ({ name, flag, paths }) =>
          basename(program) === name && paths.includes(args[args.indexOf(flag) + 1] ?? ''),
      );
      const identity = server && identityOf(pid);
      return identity === undefined ? [] : [{ name: server?.name ?? '', pid, identity }];
    });
}

/** Where the folder is, if it is a link. */
const linked = (path: string): string[] => (existsSync(path) ? [realpathSync(path)] : []);

function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It has ended.
    return [];
  }
}
