import { expect, test } from '@jest/globals';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi({ env: { RECHECK_SECONDS: '0.3' } });
const tools = useToolServer();

test('a read that does not end in time counts as different', async () => {
  const gate = { id: 'review', kind: 'human_gate', prompt: '{quote.body}', recheck: {} } as never;
  const quote = tools.node('quote', { params: { url: `${tools.url}/quote` } });
  const workflowId = await engine.define(chain(quote, gate));
  const runId = await engine.trigger(workflowId, {});
  await engine.until(runId, ['paused']);
  const release = tools.hold('quote');
  const { status, body } = await call('POST', `/api/runs/${runId}/approve`);
  release();
  expect([status, body.code]).toEqual([409, 'changed']);
  expect(body.stale.differences).toHaveLength(1);
  expect(body.stale.differences[0].problem).toMatch(/took longer than 0.3 s|Timed out after 0.3 s/);
  // On a busy machine, the time can be over before the read begins.
  expect(tools.calls('quote').length).toBeLessThanOrEqual(2);
});
