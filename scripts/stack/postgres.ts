import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { describeExit, startChild } from './children.ts';
import type { Child } from './children.ts';
import { clearEarlierServer, endOrphans } from './postgres-leftovers.ts';
import { findBinaries, locate } from './postgres-place.ts';
import type { Binaries, Location } from './postgres-place.ts';

const run = promisify(execFile);

export interface PostgresOptions {
  /** Contains the cluster (`postgres/`, or a link of that name), the password and the log. */
  dataDir: string;
  port: number;
  database: string;
  /** Default: 200. */
  maxConnections?: number;
  /** For throwaway data: no fsync, no link, and the files are removed when it stops. */
  throwaway?: boolean;
  /** Called as soon as the server process exists, long before it is ready. */
  onSpawn?: (child: Child) => void;
  /** Called with a message for the user: where the data is if `dataDir` cannot be used. */
  onNotice?: (text: string) => void;
}

export interface Postgres {
  url: string;
  /** The server's maintenance database, to create and drop others. */
  adminUrl: string;
  clusterDir: string;
  child: Child;
  /** Fast shutdown within `budgetMs`, then an immediate one, then SIGKILL. */
  stop(budgetMs: number): Promise<void>;
}

const superuser = 'postgres';
const loopback = '127.0.0.1';

function readPassword(dataDir: string): string | undefined {
  const path = join(dataDir, 'postgres-password');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

function createPassword(dataDir: string): string {
  const password = randomBytes(24).toString('base64url');
  writeFileSync(join(dataDir, 'postgres-password'), `${password}\n`, { mode: 0o600, flag: 'wx' });
  return password;
}

/**
 * Builds the cluster in a draft folder and renames it, so that an interrupted first start leaves no partial cluster.
 */
async function initialise(
  location: Location,
  binaries: Binaries,
  password: string,
  throwaway: boolean,
): Promise<void> {
  const { clusterDir, account } = location;
  const draft = `${clusterDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const passwordFile = join(draft, '..', `postgres-init-${randomBytes(4).toString('hex')}`);
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
    if (account !== undefined) {
      chownSync(draft, account.uid, account.gid);
      chownSync(passwordFile, account.uid, account.gid);
    }
    await run(
      binaries.initdb,
      [
        `--pgdata=${draft}`,
        `--username=${superuser}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // The same sort order and messages on every machine, independent of its locales.
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
        ...(throwaway ? ['--no-sync'] : []),
      ],
      { cwd: '/', uid: account?.uid, gid: account?.gid, env: serverEnvironment() },
    );
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const stderr = (error as { stderr?: string }).stderr?.trim();
    throw new Error(
      `The database cluster could not be created in ${clusterDir}: ${stderr || String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, clusterDir);
}

/** The shell's PG* variables are for other servers. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([key]) => !key.startsWith('PG'));
  return { ...Object.fromEntries(own), LC_ALL: 'C', TZ: 'UTC' };
}

function serverSettings(options: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: loopback,
    port: String(options.port),
    // No socket file, because its folder would also have to be shared between accounts.
    unix_socket_directories: '',
    max_connections: String(options.maxConnections ?? 200),
    shared_buffers: '256MB',
    effective_cache_size: '1GB',
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    wal_compression: 'on',
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    // JIT only helps long analytical queries, and costs tens of ms when the planner misjudges a query.
    jit: 'off',
    log_line_prefix: '%m [%p] %d ',
    log_checkpoints: 'off',
    timezone: 'UTC',
    // A client that dies within a transaction must not hold its locks for hours.
    tcp_keepalives_idle: '30',
    client_connection_check_interval: '10s',
    ...(options.throwaway === true
      ? {
          fsync: 'off',
          synchronous_commit: 'off',
          full_page_writes: 'off',
          wal_level: 'minimal',
          max_wal_senders: '0',
        }
      : {}),
  };
  return Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/** Fast shutdown first. If its checkpoint takes too long, an immediate one, from which the next start recovers. */
export function postgresStopSignals(budgetMs: number): [NodeJS.Signals, number][] {
  return [
    ['SIGINT', budgetMs * 0.7],
    ['SIGQUIT', budgetMs * 0.3],
  ];
}

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const notice = options.onNotice ?? (() => undefined);
  mkdirSync(options.dataDir, { recursive: true });
  const location = await locate(options, notice);
  const { clusterDir, account } = location;
  const binaries = findBinaries(account, notice);
  const kept = readPassword(options.dataDir);
  const password = kept ?? createPassword(options.dataDir);
  if (!existsSync(join(clusterDir, 'PG_VERSION'))) {
    await initialise(location, binaries, password, options.throwaway === true);
  } else {
    await clearEarlierServer(clusterDir);
    if (kept === undefined) await resetPassword(location, binaries, password);
  }

  const child = await startChild({
    name: 'postgres',
    command: binaries.postgres,
    args: ['-D', clusterDir, ...serverSettings(options)],
    cwd: '/',
    env: serverEnvironment(),
    uid: account?.uid,
    gid: account?.gid,
    logFile: join(options.dataDir, 'logs', 'postgres.log'),
    killSignal: 'SIGQUIT',
  });
  const sessionsGone = child.exited.then(() => endOrphans(clusterDir));
  options.onSpawn?.(child);
  const url = (database: string): string =>
    `postgresql://${superuser}:${password}@${loopback}:${options.port}/${database}`;
  const server: Postgres = {
    url: url(options.database),
    adminUrl: url('postgres'),
    clusterDir,
    child,
    async stop(budgetMs) {
      await child.stop(postgresStopSignals(budgetMs));
      await sessionsGone;
      if (options.throwaway === true) {
        rmSync(clusterDir, { recursive: true, force: true });
        if (existsSync(join(dirname(clusterDir), 'origin'))) {
          rmSync(dirname(clusterDir), { recursive: true, force: true });
        }
      }
    },
  };
  try {
    await ready(server, options);
  } catch (error) {
    await server.stop(1_000);
    throw error;
  }
  return server;
}

async function ready(server: Postgres, options: PostgresOptions): Promise<void> {
  // Crash recovery of a large cluster can take a while. A server that cannot start exits on its own.
  const deadline = Date.now() + 60_000;
  for (;;) {
    if (server.child.exit !== undefined) {
      throw new Error(
        `The database server did not start (${describeExit(server.child.exit)}): ${server.child.tail(5).join(' | ')}`,
      );
    }
    const client = new pg.Client({
      connectionString: server.adminUrl,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [
        options.database,
      ]);
      if (rowCount === 0) {
        await client.query(`create database ${client.escapeIdentifier(options.database)}`);
      }
      return;
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === '28P01') {
        throw new Error(
          `${join(options.dataDir, 'postgres-password')} does not hold the password of the database in ${server.clusterDir}. Restore that file, or remove it to have a new password set.`,
          { cause: error },
        );
      }
      // Not listening yet, or still in recovery (57P03).
      if (code !== 'ECONNREFUSED' && code !== '57P03' && code !== 'ECONNRESET') throw error;
      if (Date.now() > deadline) {
        throw new Error(
          `The database server did not answer within 60 s; see its log: ${server.child.tail(3).join(' | ')}`,
        );
      }
    } finally {
      await client.end().catch(() => undefined);
    }
    await sleep(15);
  }
}

/** For a lost password file: sets a new password in single-user mode, which requires none. */
function resetPassword(location: Location, binaries: Binaries, password: string): Promise<void> {
  return new Promise((done, fail) => {
    const single = spawn(binaries.postgres, ['--single', '-D', location.clusterDir, 'postgres'], {
      cwd: '/',
      env: serverEnvironment(),
      uid: location.account?.uid,
      gid: location.account?.gid,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    single.once('error', fail);
    single.once('exit', (code) => {
      if (code === 0) done();
      else fail(new Error(`the password could not be set (exit code ${code})`));
    });
    // base64url needs no quoting.
    single.stdin.end(`alter role ${superuser} password '${password}';\n`);
  });
}
