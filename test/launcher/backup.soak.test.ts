import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { eventually } from '#test/support/engine.ts';
import { patiently } from '#test/support/patience.ts';
import {
  type Environment,
  environmentOf,
  type Outside,
  runScript,
  type Service,
  startOutside,
  startService,
} from './drill.ts';
import { type DrillRun, giveWhatTheyWaitFor, startRuns, states } from './drill-runs.ts';

// The drill of docs/restore.md: backs up a service under load, kills every process, deletes the data folder and restores it.

const EACH = 25;
let home: string;
let dataDir: string;
let env: Environment;
let key: string;
let outside: Outside;
let service: Service;
let runs: DrillRun[];
const backup = (name: string) => join(home, name);

/** Kills everything and deletes the data. The key was kept elsewhere, as the page says. */
function destroy(): void {
  service.kill();
  const cluster = join(dataDir, 'postgres');
  rmSync(cluster, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

const backUp = async (name: string): Promise<void> => {
  const { code, output } = await runScript(env, 'backup.ts', '--to', backup(name));
  expect([code, output]).toEqual([0, expect.stringContaining('is complete')]);
};

const restore = (name: string, more: Environment = {}, ...args: string[]) =>
  runScript(
    { ...env, ENCRYPTION_KEY: key, ...more },
    'restore.ts',
    '--from',
    backup(name),
    ...args,
  );

/** A backup with Postgres of one and Temporal of another moment. */
function mix(name: string, postgres: string, temporal: string): void {
  const manifestOf = (from: string) =>
    JSON.parse(readFileSync(join(backup(from), 'manifest.json'), 'utf8'));
  mkdirSync(backup(name));
  copyFileSync(join(backup(postgres), 'postgres.tar'), join(backup(name), 'postgres.tar'));
  copyFileSync(join(backup(temporal), 'temporal.db'), join(backup(name), 'temporal.db'));
  const files = [manifestOf(postgres).files[0], manifestOf(temporal).files[1]];
  const manifest = { ...manifestOf(postgres), files };
  writeFileSync(join(backup(name), 'manifest.json'), JSON.stringify(manifest));
}

const countOpen = async (): Promise<number> => {
  const [row] = await service.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM runs WHERE status IN ('pending', 'running', 'paused')",
  );
  return row?.n ?? 0;
};

/** The keys of the calls of a run that were accepted, by step. */
function stepsOf(runId: string): Map<string, string[]> {
  const keys = [...outside.accepted.keys()].filter((key) => key.startsWith(`${runId}:`));
  return Map.groupBy(keys, (key) => key.split(':')[1] ?? '');
}

/**
 * Keys under which a step had its effect once more. A refused attempt makes the next one use another key. If the backup does
 * not know the refusal, the step repeats the refused key, and nothing can tell that a later key has had the effect.
 */
const repeats = (keys: string[]): string[] =>
  keys.length === 1 ? [] : keys.filter((key) => !outside.refused.has(key)).slice(1);

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'drill-'));
  chmodSync(home, 0o711);
  dataDir = join(home, 'data');
  env = environmentOf(dataDir, await freePorts(5));
  outside = await startOutside();
  service = await startService(env);
  key = readFileSync(join(dataDir, 'encryption-key'), 'utf8').trim();
  runs = await startRuns(service, outside, EACH);
  // Each run has come to its state: those in the queue have not called anything.
  const begun = runs.filter(({ state }) => state !== 'queue');
  await eventually(
    () =>
      begun.every(({ id }) =>
        [...outside.accepted.keys()].some((each) => each.startsWith(`${id}:before`)),
      ),
    120_000,
  );
  await backUp('first');
  // It continues: half of the runs get what they wait for, and others begin.
  await giveWhatTheyWaitFor(
    service,
    outside,
    runs.filter(({ n }) => n % 2 === 0),
  );
  outside.setCalm(true);
  const before = await countOpen();
  await startRunsTooLate();
  await eventually(async () => (await countOpen()) < before - EACH, 60_000);
  outside.setCalm(false);
  await backUp('second');
}, patiently(400_000));

/** Runs that no restored Postgres of the first moment knows. */
async function startRunsTooLate(): Promise<void> {
  const [row] = await service.query<{ id: string }>(
    "SELECT id FROM workflows WHERE name = 'Drill: gate'",
  );
  for (let n = 0; n < 10; n += 1) await service.ask('POST', `/workflows/${row?.id}/runs`, { n });
}

afterAll(async () => {
  service?.kill();
  await outside?.close();
  rmSync(home, { recursive: true, force: true });
});

describe('a backup', () => {
  test('is readable by its owner only, and does not contain the key', () => {
    expect(statSync(backup('first')).mode & 0o777).toBe(0o700);
    for (const name of ['manifest.json', 'postgres.tar', 'temporal.db']) {
      const path = join(backup('first'), name);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path).includes(key)).toBe(false);
    }
  });

  test('is not written over what exists, or where nothing can be written', async () => {
    for (const to of [backup('first'), '/proc/no-backup']) {
      const { code, output } = await runScript(env, 'backup.ts', '--to', to);
      expect([code, output]).toEqual([1, expect.stringMatching(/^There is no backup: [^\n]+\n$/)]);
    }
  });

  test('is not restored while the service runs', async () => {
    const { code, output } = await restore('first', {}, '--replace');
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^Not restored: .* is in use by a running copy/),
    ]);
  });
});

/** Refusals, each in one line, before anything is changed. */
const refusals: [
  title: string,
  change: (folder: string) => void,
  more: Environment,
  says: RegExp,
][] = [
  [
    'another key',
    () => undefined,
    { ENCRYPTION_KEY: 'another key' },
    /has the fingerprint [0-9a-f]{16}, but/,
  ],
  [
    'no key',
    () => undefined,
    { ENCRYPTION_KEY: '' },
    /needs the ENCRYPTION_KEY with the fingerprint/,
  ],
  [
    'no manifest',
    (folder) => rmSync(join(folder, 'manifest.json')),
    {},
    /is not a complete backup/,
  ],
  [
    'a missing file',
    (folder) => rmSync(join(folder, 'temporal.db')),
    {},
    /is incomplete: .*temporal\.db is missing/,
  ],
  [
    'half a file',
    (folder) => writeFileSync(join(folder, 'temporal.db'), 'half'),
    {},
    /has 4 bytes instead of/,
  ],
  [
    'a changed file',
    (folder) => {
      const path = join(folder, 'temporal.db');
      const bytes = readFileSync(path);
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
    {},
    /the SHA-256 of .*temporal\.db is not that of the manifest/,
  ],
  [
    'a newer schema',
    (folder) => {
      const path = join(folder, 'manifest.json');
      const manifest = JSON.parse(readFileSync(path, 'utf8'));
      manifest.migrations.push({ name: '9999_later.sql', digest: 'x' });
      writeFileSync(path, JSON.stringify(manifest));
    },
    {},
    /is of a newer version .*9999_later\.sql/,
  ],
];

test.each(refusals)(
  'a restore refuses %s and changes nothing',
  async (title, change, more, says) => {
    const name = `with ${title}`;
    mix(name, 'first', 'first');
    change(backup(name));
    const empty = mkdtempSync(join(home, 'empty-'));
    const { code, output } = await restore(name, { DATA_DIR: empty, ...more });
    expect([code, output]).toEqual([1, expect.stringMatching(/^Not restored: [^\n]+\n$/)]);
    expect(output).toMatch(says);
    rmSync(empty, { recursive: true });
  },
  patiently(30_000),
);

describe('after the loss of everything', () => {
  test.each([
    ['both databases of one backup', 'first', 'first'],
    ['a Postgres that is older than Temporal', 'first', 'second'],
    ['a Temporal that is older than Postgres', 'second', 'first'],
  ])(
    'every open run of %s continues to its end, and does nothing twice',
    async (title, postgres, temporal) => {
      mix(title, postgres, temporal);
      destroy();
      const { code, output } = await restore(title);
      expect([code, output]).toEqual([0, expect.stringMatching(/\d+ open runs then continue/)]);
      service = await startService({ ...env, ENCRYPTION_KEY: key });
      outside.setCalm(true);
      let resumed = 0;
      await eventually(async () => {
        await giveWhatTheyWaitFor(service, outside, runs);
        for (const { id } of await service.query<{ id: string }>(
          "SELECT id FROM runs WHERE status = 'failed' AND parent_run_id IS NULL",
        )) {
          const answer = await service.ask('POST', `/runs/${id}/resume`, {});
          if (answer.status === 200) resumed += 1;
        }
        const [row] = await service.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM runs WHERE status = 'success' AND id IN (${runs.map(({ id }) => `'${id}'`).join(',')})`,
        );
        return row?.n === runs.length;
      }, 240_000);
      expect(resumed).toBe(0);
      for (const { id, state } of runs) {
        expect([...stepsOf(id).keys()].sort()).toEqual([...states[state]].sort());
        for (const keys of stepsOf(id).values()) expect(repeats(keys)).toEqual([]);
      }
      for (const bodies of outside.accepted.values()) expect(bodies.size).toBe(1);
      const verified = await runScript(env, 'admin/audit-verify.ts');
      expect([verified.code, verified.output]).toEqual([0, expect.stringContaining(': whole')]);
      const reconciled = await runScript(env, 'admin/runs-reconcile.ts');
      expect(reconciled.output).toContain('0 executions without an open run');
    },
    patiently(400_000),
  );

  test(
    'data that is there is refused, and kept beside with --replace',
    async () => {
      service.kill();
      const refused = await restore('first');
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('has data: ')]);
      const { code, output } = await restore('first', {}, '--replace');
      expect([code, output]).toEqual([0, expect.stringContaining('The replaced data is in ')]);
      service = await startService({ ...env, ENCRYPTION_KEY: key });
      expect(await countOpen()).toBeGreaterThan(0);
    },
    patiently(120_000),
  );
});
