import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { hostAndPort, startProxy } from '#test/support/proxy.ts';
import { useStageEach } from '#test/support/stage.ts';

const engine = useEngine({ worker: false });
let worker: TestProcess;
afterEach(() => worker.kill());
const tools = useToolServer();
const wire = useStageEach(() => startProxy(hostAndPort(engine.databaseUrl)));
beforeEach(async () => {
  const url = new URL(engine.databaseUrl);
  url.port = String(wire.port);
  worker = await startWorkerProcess({ ...engine.env, DATABASE_URL: url.href });
});

const OUTAGE_MS = 10_000;

describe('a ten-second Postgres outage', () => {
  test('during a step: its result is recorded after the outage, and the step is not repeated', async () => {
    const answer = tools.hold('b');
    const runId = await engine.start(chain(tools.node('a'), tools.node('b'), tools.node('c')));
    await eventually(() => tools.calls('b').length === 1);
    wire.cut();
    answer();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    wire.restore();
    await engine.until(runId, ['success'], 40_000);
    expect(['a', 'b', 'c'].map((name) => tools.calls(name).length)).toEqual([1, 1, 1]);
  }, 90_000);

  test('while a run is about to pause: the run waits and does not fail', async () => {
    const runId = await engine.start(
      chain(
        { id: 'wait', kind: 'tool', tool_name: 'delay', params: { seconds: 3 } },
        { id: 'gate', kind: 'human_gate' },
      ),
    );
    await eventually(async () => (await engine.run(runId)).steps[0]?.status === 'running');
    wire.cut();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    expect((await engine.run(runId)).status).toBe('running');
    wire.restore();
    const run = await engine.until(runId, ['paused', 'failed'], 40_000);
    expect(run.status).toBe('paused');
  }, 90_000);
});
