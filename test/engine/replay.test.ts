import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { ENGINE_VERSION } from '#shared/execution.ts';
import { type Engine, quietRuntime, startEngine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { fetchHistory, outlineOf, scenarios } from './histories.ts';

quietRuntime();
const { History } = proto.temporal.api.history.v1;
/** A folder for each engine version, `v<n>`. Only the histories of the newest may be recorded again. */
const folder = join(import.meta.dirname, '../histories');
const newest = `v${ENGINE_VERSION}`;
const recording = process.env['RECORD_HISTORIES'] === '1';
const bundle = () => ({ codePath: setting('WORKFLOW_BUNDLE') });

describe('histories of earlier runs', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.binpb'),
  );

  test('exist for every scenario', () => {
    const recorded = files.filter((path) => path.startsWith(`${newest}/`));
    expect(recorded.sort()).toEqual(
      Object.keys(scenarios)
        .map((name) => `${newest}/${name}.binpb`)
        .sort(),
    );
  });

  test.each(files)('%s replays with current code', async (path) => {
    const history = History.decode(readFileSync(join(folder, path)));
    await Worker.runReplayHistory({ workflowBundle: bundle() }, history, path);
  });
});

describe('what runs today', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.close());

  test.each(Object.keys(scenarios))(
    '%s replays',
    async (name) => {
      const runId = await scenarios[name]!(engine);
      const history = await fetchHistory(engine, runId);
      try {
        await Worker.runReplayHistory({ workflowBundle: bundle() }, history, runId);
      } catch (error) {
        // The history is gone with the server, and the next one is another.
        throw new Error(`does not replay:\n${outlineOf(history)}`, { cause: error });
      }
      if (recording) {
        mkdirSync(join(folder, newest), { recursive: true });
        writeFileSync(join(folder, newest, `${name}.binpb`), History.encode(history).finish());
      }
    },
    90_000,
  );
});
