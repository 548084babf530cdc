import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { chain, eventually } from '#test/support/engine.ts';
import {
  type Environment,
  environmentOf,
  runScript,
  type Service,
  startScript,
  startService,
} from './drill.ts';
import { makeNextVersion } from './next-version.ts';

// Backups and restores that cannot succeed, or are interrupted: each says why in one line, and loses nothing.

let home: string;
let dataDir: string;
let env: Environment;
let service: Service;
let runId: string;
const mounts: string[] = [];
const good = () => join(home, 'good');

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'restore-'));
  chmodSync(home, 0o711);
  dataDir = join(home, 'data');
  env = environmentOf(dataDir, await freePorts(5));
  service = await startService(env);
  env = { ...env, ENCRYPTION_KEY: readFileSync(join(dataDir, 'encryption-key'), 'utf8').trim() };
  const graph = chain({ id: 'gate', kind: 'human_gate' }, { id: 'after', kind: 'agent', mock: {} });
  const workflow = await service.ask<{ id: string }>('POST', '/workflows', {
    name: 'Paused',
    graph,
  });
  const run = await service.ask<{ id: string }>('POST', `/workflows/${workflow.body.id}/runs`, {});
  runId = run.body.id;
  await isPaused();
  const { code, output } = await runScript(env, 'backup.ts', '--to', good());
  expect([code, output]).toEqual([0, expect.stringContaining('is complete')]);
}, 120_000);
afterAll(() => {
  for (const folder of mounts) spawnSync('umount', ['--lazy', folder]);
  service.kill();
  rmSync(home, { recursive: true, force: true });
});

const isPaused = () =>
  eventually(async () => {
    const { body } = await service.ask<{ status: string }>('GET', `/runs/${runId}`);
    return body.status === 'paused';
  }, 40_000);

const backup = (to: string, more: Environment = {}) =>
  runScript({ ...env, ...more }, 'backup.ts', '--to', to);
const restore = (to: string, ...more: string[]) =>
  runScript({ ...env, DATA_DIR: to }, 'restore.ts', '--from', good(), ...more);

const refusal = (command: 'backup' | 'restore', reason: RegExp) => ({
  code: 1,
  output: expect.stringMatching(
    new RegExp(
      `^${command === 'backup' ? 'There is no backup' : 'Not restored'}: [^\\n]*${reason.source}[^\\n]*\\n$`,
    ),
  ),
});

/** A file system of its own; undefined where none can be mounted. */
function mounted(name: string, options: string): string | undefined {
  const folder = join(home, name);
  mkdirSync(folder);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  if (status !== 0) return undefined;
  mounts.push(folder);
  return folder;
}

describe('servers of the settings', () => {
  test.each<Environment>([
    { DATABASE_URL: 'postgres://postgres@127.0.0.1:1/other' },
    { TEMPORAL_ADDRESS: '127.0.0.1:1' },
  ])('are neither backed up nor restored: %p', async (servers) => {
    const reason = /DATABASE_URL or TEMPORAL_ADDRESS is set: see docs\/restore\.md/;
    expect(await backup(join(home, 'foreign'), servers)).toEqual(refusal('backup', reason));
    const elsewhere = { ...env, DATA_DIR: join(home, 'foreign'), ...servers };
    const restored = await runScript(elsewhere, 'restore.ts', '--from', good());
    expect(restored).toEqual(refusal('restore', reason));
    expect(existsSync(join(home, 'foreign'))).toBe(false);
  });
});

describe('a disk', () => {
  test('that is full gets no backup and no restore, and nothing stays on it', async () => {
    const disk = mounted('full', 'size=20m');
    if (disk === undefined) return;
    expect(await backup(join(disk, 'backup'))).toEqual(
      refusal('backup', /full is full: make space first/),
    );
    expect(readdirSync(disk)).toEqual([]);
    expect(await restore(join(disk, 'data'))).toEqual(
      refusal('restore', /bytes free, but the restore needs \d+: make space first/),
    );
    expect(readdirSync(join(disk, 'data'))).toEqual([]);
  });

  test('that cannot be written is refused', async () => {
    const disk = mounted('fixed', 'ro,size=1m');
    for (const folder of [disk, '/proc', '/proc/no/such'].filter((each) => each !== undefined)) {
      expect(await backup(join(folder, 'backup'))).toEqual(refusal('backup', /mkdir/));
      expect(await restore(join(folder, 'data'))).toEqual(
        refusal('restore', /DATA_DIR \S+ cannot be created/),
      );
    }
  });
});

describe('a backup that is interrupted', () => {
  const partial = (name: string) =>
    readdirSync(home).find((each) => each.startsWith(`${name}.partial-`));
  const interrupted = async (name: string, signal: NodeJS.Signals) => {
    const script = startScript(env, 'backup.ts', ['--to', join(home, name)]);
    await eventually(() => {
      const folder = partial(name);
      return folder !== undefined && existsSync(join(home, folder, 'postgres.tar'));
    });
    script.kill(signal);
    const ended = await script.ended;
    expect(existsSync(join(home, name))).toBe(false);
    return ended;
  };

  test('by SIGKILL leaves nothing that looks complete', async () => {
    expect(await interrupted('killed', 'SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    const left = join(home, partial('killed') ?? '');
    const { code, output } = await runScript(env, 'restore.ts', '--from', left);
    expect({ code, output }).toEqual(refusal('restore', /is not a complete backup/));
  });

  test('by Ctrl-C leaves nothing', async () => {
    const ended = await interrupted('stopped', 'SIGINT');
    expect(ended).toMatchObject(refusal('backup', /interrupted by SIGINT/));
    expect(partial('stopped')).toBeUndefined();
  });
});

describe('a restore that is interrupted by SIGKILL', () => {
  const unfinished = () => existsSync(join(dataDir, 'restore-unfinished'));
  /** The moments at which it is killed: beside the old data, and in its place. */
  const moments: [string, () => boolean][] = [
    ['while it extracts', () => existsSync(join(dataDir, 'postgres.restored'))],
    ['as it replaces the data', unfinished],
    [
      'while its servers run',
      () => unfinished() && existsSync(join(dataDir, 'postgres/postmaster.pid')),
    ],
  ];
  /** Where the data from before is: in place, or kept beside. */
  const before = () =>
    readdirSync(dataDir)
      .filter((name) => name.startsWith('postgres') && existsSync(join(dataDir, name, 'of-before')))
      .map((name) => name.replace(/\d{8}T\d+/, 'time'));

  test.each(moments)(
    '%s keeps the data, and is repeated',
    async (title, reached) => {
      service.kill();
      for (const name of readdirSync(dataDir).filter((each) => each.includes('replaced-'))) {
        rmSync(join(dataDir, name), { recursive: true });
      }
      writeFileSync(join(dataDir, 'postgres/of-before'), title);
      const script = startScript(env, 'restore.ts', ['--from', good(), '--replace']);
      await eventually(reached, 60_000);
      script.kill('SIGKILL');
      expect(await script.ended).toMatchObject({ signal: 'SIGKILL' });
      expect(before()).toHaveLength(1);
      if (unfinished()) {
        const reason = /did not finish: repeat npm run restore/;
        expect(await backup(join(home, 'unfinished'))).toEqual(refusal('backup', reason));
        await expect(startService(env)).rejects.toThrow(reason);
      }
      const { code, output } = await restore(dataDir, '--replace');
      expect([code, output]).toEqual([0, expect.stringContaining('1 open runs then continue')]);
      expect([before(), unfinished()]).toEqual([['postgres.replaced-time'], false]);
      service = await startService(env);
      await isPaused();
    },
    200_000,
  );
});

test('a backup of an older version is migrated by the restore of a newer one, and not the other way round', async () => {
  service.kill();
  const next = join(home, 'next');
  mkdirSync(next);
  const added = await makeNextVersion(next);
  const run = async (script: string, ...args: string[]) => {
    const { code, output } = await startScript(env, script, args, next).ended;
    return { code, output };
  };
  expect(await run('restore.ts', '--from', good(), '--replace')).toEqual({
    code: 0,
    output: expect.stringContaining(
      `${added.filter((name) => /^\d/.test(name)).length} migrations were applied to the older schema`,
    ),
  });
  service = await startService(env, next);
  await isPaused();
  expect((await service.ask('POST', `/runs/${runId}/approve`, { approved: true })).status).toBe(
    200,
  );
  await eventually(async () => {
    const rows = await service.query(
      "SELECT FROM runs WHERE status = 'success' AND of_next = 'next'",
    );
    return rows.length === 1;
  }, 40_000);
  const newer = join(home, 'newer');
  expect((await run('backup.ts', '--to', newer)).code).toBe(0);
  expect(await runScript(env, 'restore.ts', '--from', newer, '--replace')).toEqual(
    refusal('restore', /is of a newer version \(.*: restore it with that version/),
  );
}, 300_000);
