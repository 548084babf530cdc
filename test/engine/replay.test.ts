import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { type Engine, quietRuntime, startEngine } from '../support/engine.ts';
import { setting } from '../support/settings.ts';
import { fetchHistory, scenarios } from './histories.ts';

quietRuntime();
const { History } = proto.temporal.api.history.v1;
const folder = join(import.meta.dirname, '../histories');
const recording = process.env['RECORD_HISTORIES'] === '1';
const bundle = () => ({ codePath: setting('WORKFLOW_BUNDLE') });

describe('histories of earlier runs', () => {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.binpb'))
    .map((entry) => entry.name);

  test('are there for every scenario', () => {
    expect(names.map((name) => name.replace('.binpb', '')).sort()).toEqual(
      Object.keys(scenarios).sort(),
    );
  });

  test.each(names)('%s replays with the workflow of today', async (name) => {
    const history = History.decode(readFileSync(join(folder, name)));
    await Worker.runReplayHistory({ workflowBundle: bundle() }, history, name);
  });
});

describe('what runs today', () => {
  let engine: Engine;
  beforeAll(async () => {
    // Nothing is cached: every workflow task replays its whole history first.
    engine = await startEngine({ env: { MAX_CACHED_WORKFLOWS: '0' } });
  });
  afterAll(() => engine.close());

  test.each(Object.keys(scenarios))('%s replays', async (name) => {
    const runId = await scenarios[name]!(engine);
    const history = await fetchHistory(engine, runId);
    await Worker.runReplayHistory({ workflowBundle: bundle() }, history, runId);
    if (recording) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${name}.binpb`), History.encode(history).finish());
    }
  });
});
