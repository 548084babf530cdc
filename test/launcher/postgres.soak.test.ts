import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { freePorts } from '#scripts/stack/ports.ts';
import { startPostgres, type Postgres } from '#scripts/stack/postgres.ts';

let folder = '';
let dataDir = '';
let notices: string[] = [];
let running: Postgres | undefined;

function newFolder(): void {
  folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  chmodSync(folder, 0o755);
  dataDir = join(folder, 'project/.data');
  notices = [];
}

afterEach(async () => {
  await running?.stop(2_000);
  running = undefined;
});

async function start(): Promise<Postgres> {
  const [port = 0] = await freePorts(1);
  running = await startPostgres({
    dataDir,
    port,
    database: 'product',
    onNotice: (text) => notices.push(text),
  });
  return running;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function server(): Postgres {
  if (running === undefined) throw new Error('not started');
  return running;
}

async function restart(): Promise<Postgres> {
  await running?.stop(2_000);
  return start();
}

function portOf(server: Postgres): number {
  return Number(new URL(server.url).port);
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('timeout', () => socket.destroy(new Error('timeout')));
    socket.once('error', () => resolve(false));
  });
}

describe('the embedded database', () => {
  // One cluster for all tests, since creating it takes longer than all of them.
  beforeAll(newFolder);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    const { url } = await start();
    await query(url, `drop table if exists kept`);
  });

  test('keeps its data and password over a restart', async () => {
    const first = server();
    await query(first.url, `create table kept as select 'here' as word`);
    const second = await restart();
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
  });

  test('requires a password that only its owner can read', async () => {
    const { url } = server();
    const file = join(dataDir, 'postgres-password');
    expect(readFileSync(file, 'utf8').trim()).toBe(new URL(url).password);
    expect(new URL(url).password.length).toBeGreaterThanOrEqual(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const wrong = new URL(url);
    wrong.password = 'postgres';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
  });

  test('gets a new password when the password file is lost', async () => {
    const first = server();
    await query(first.url, `create table kept as select 'here' as word`);
    await first.stop(2_000);
    rmSync(join(dataDir, 'postgres-password'));
    const second = await start();
    expect(new URL(second.url).password).not.toBe(new URL(first.url).password);
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
  });

  test('listens on the loopback address only', async () => {
    const port = portOf(server());
    expect(await answers('127.0.0.1', port)).toBe(true);
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of others) expect(await answers(address, port)).toBe(false);
  });

  test('recovers after its main process is killed during a query', async () => {
    const first = server();
    await query(first.url, `create table kept as select 'here' as word`);
    const busy = new pg.Client({ connectionString: first.url });
    busy.on('error', () => undefined);
    await busy.connect();
    const lost = expect(
      busy.query('select count(*) from generate_series(1, 1e10::bigint)'),
    ).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 200));
    process.kill(first.child.pid, 'SIGKILL');
    await first.child.exited;
    const second = await start();
    await lost;
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
  });

  test('stops the server that an earlier start left running', async () => {
    const left = server();
    const second = await start();
    expect(left.child.exit).toBeDefined();
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('ignores a lock file whose process ID belongs to another process', async () => {
    const first = server();
    await first.stop(2_000);
    writeFileSync(
      join(first.clusterDir, 'postmaster.pid'),
      `${process.pid}\n${first.clusterDir}\n1700000000\n5432\n\n127.0.0.1\n        1         2\nready   \n`,
    );
    const second = await start();
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

// Only root needs a separate account for the server, and folders that this account can enter.
const isRoot = userInfo().uid === 0;
const asRoot = isRoot ? describe : describe.skip;
const why = isRoot ? '' : ' (not root: no other account is needed)';

asRoot(`as root, below a folder that the server account cannot enter${why}`, () => {
  const made: string[] = [];

  function newClosedFolder(): void {
    newFolder();
    made.push(folder);
    chmodSync(folder, 0o700);
  }

  afterAll(() => {
    for (const each of made) {
      const cluster = readlinkSync(join(each, 'project/.data/postgres'));
      rmSync(dirname(cluster), { recursive: true, force: true });
      rmSync(each, { recursive: true, force: true });
    }
  });

  test('the data goes to another folder, which is printed and found again', async () => {
    newClosedFolder();
    const first = await start();
    expect(first.clusterDir.startsWith(folder)).toBe(false);
    expect(notices.join()).toContain(`the database is in ${first.clusterDir}`);
    await query(first.url, `create table kept as select 'here' as word`);
    const second = await restart();
    expect(second.clusterDir).toBe(first.clusterDir);
    expect(notices).toHaveLength(1);
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
  });

  test('a copy of the project refuses the database of the original', async () => {
    const copy = join(folder, 'copy/.data');
    cpSync(dataDir, copy, { recursive: true, verbatimSymlinks: true });
    const [port = 0] = await freePorts(1);
    await expect(startPostgres({ dataDir: copy, port, database: 'product' })).rejects.toThrow(
      `points to the database of ${dataDir}`,
    );
  });

  test('a cluster moves with its data when its folder becomes inaccessible', async () => {
    newClosedFolder();
    chmodSync(folder, 0o755);
    const first = await start();
    await query(first.url, `create table kept as select 'here' as word`);
    await first.stop(2_000);
    chmodSync(folder, 0o700);
    const second = await start();
    expect(second.clusterDir).not.toBe(first.clusterDir);
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
  });
});
