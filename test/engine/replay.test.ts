import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { messageOf } from '#shared/errors.ts';
import { type Engine, quietRuntime, startEngine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { soakCases } from '#test/support/soak.ts';
import { fetchHistory, outlineOf, scenarios } from './histories.ts';

quietRuntime();
const { History } = proto.temporal.api.history.v1;
type History = Awaited<ReturnType<typeof fetchHistory>>;
const folder = join(import.meta.dirname, '../histories');
const names = Object.keys(scenarios);
const recording = process.env['RECORD_HISTORIES'] === '1';

/** Why each of these histories cannot be replayed, in one worker. Those without an entry can. */
async function replayAll(histories: Map<string, History>): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  const given = [...histories].map(([workflowId, history]) => ({ workflowId, history }));
  const options = { workflowBundle: { codePath: setting('WORKFLOW_BUNDLE') } };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, given)) {
    if (error !== undefined) failures.set(workflowId, messageOf(error));
  }
  return failures;
}

describe('histories of earlier runs', () => {
  const files = readdirSync(folder);

  test('exist for every scenario', () => {
    expect(files.sort()).toEqual(names.map((name) => `${name}.binpb`).sort());
  });

  test('replay with current code', async () => {
    const recorded = new Map(
      files.map((file) => [file, History.decode(readFileSync(join(folder, file)))]),
    );
    expect(Object.fromEntries(await replayAll(recorded))).toEqual({});
  }, 90_000);
});

const live = soakCases(names, 5);

/** Scenarios that run at the same time: most of them wait for timers and for each other's steps. */
const AT_ONCE = 4;

describe('a new run', () => {
  let engine: Engine;
  const histories = new Map<string, Promise<History>>();

  beforeAll(async () => {
    engine = await startEngine();
    const lines: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
    for (const [n, name] of live.entries()) {
      const line = n % AT_ONCE;
      const recorded = lines[line]!.then(async () =>
        fetchHistory(engine, await scenarios[name]!(engine)),
      );
      histories.set(name, recorded);
      lines[line] = recorded.catch(() => undefined);
    }
  });
  afterAll(() => engine.close());

  test.each(live)(
    '%s replays',
    async (name) => {
      const history = await histories.get(name)!;
      const failure = (await replayAll(new Map([[name, history]]))).get(name);
      // The history is gone with the server, and the next one is another.
      if (failure !== undefined) {
        throw new Error(`does not replay: ${failure}\n${outlineOf(history)}`);
      }
      // A history that was recorded stays: executions like it may be open.
      const path = join(folder, `${name}.binpb`);
      if (recording && !existsSync(path)) {
        writeFileSync(path, History.encode(history).finish());
      }
    },
    90_000,
  );
});
