import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { killWorkersAt } from '#test/support/crashes.ts';
import { echo, edge, type Engine, startEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';

let engine: Engine;
let tools: ToolServer;
beforeAll(async () => {
  tools = await startToolServer();
  engine = await startEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });
});
afterAll(async () => {
  await engine.close();
  await tools.close();
});

test('workers that are killed repeatedly during a map run each item once', async () => {
  const items = Array.from({ length: 300 }, (_, at) => at);
  const url = `${tools.url}/call?{map.item}`;
  const workflowId = await engine.define({
    nodes: [
      { id: 'map', kind: 'map', items: 'list', concurrency: 20 },
      tools.node('call', { params: { url, method: 'POST' } }),
      echo('after', '[map.item, call.status]'),
    ],
    edges: [edge('map', 'call', 'true'), edge('call', 'after'), edge('after', 'map')],
  });
  const runId = await engine.trigger(workflowId, { list: items });
  await killWorkersAt(engine.env, [40, 120, 220, 280], () => tools.calls('call').length, 30_000);
  const last = await startWorkerProcess(engine.env);
  try {
    const run = await engine.until(runId, ['success', 'failed'], 60_000);
    expect(run.output).toEqual({ map: items.map((item) => [item, 200]) });
  } finally {
    await last.stop();
  }
  // A call whose worker was killed is repeated with the key of the first.
  const seen = tools.calls('call');
  const once = new Set(
    seen.map((call) => `${call.headers['idempotency-key'] as string} ${call.url}`),
  );
  expect([...once].sort()).toEqual(
    items.map((item) => `${runId}:call#${item + 1}:0 /call?${item}`).sort(),
  );
}, 180_000);
