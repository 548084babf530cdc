import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiError, createClient } from '#client/index.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { createOps } from '#test/cli/ops.ts';

const { engine, call } = useEngineApi();
const tools = useToolServer();

/** A run that has read 7 and waits, while another read gets 9. */
async function stale(): Promise<string> {
  const gate = { id: 'review', kind: 'human_gate', prompt: '{quote.body.price}', recheck: true };
  const quote = tools.node('quote', { params: { url: `${tools.url}/quote` } });
  tools.answer('quote', { body: { price: 7 } });
  const workflowId = await engine.define(chain(quote, gate as never));
  const runId = await engine.trigger(workflowId, {});
  await engine.until(runId, ['paused']);
  tools.answer('quote', { body: { price: 9 } });
  return runId;
}

let owner: Awaited<ReturnType<typeof connectMcp>>;
beforeAll(async () => {
  owner = await connectMcp(`${engine.url}/api/mcp`);
});
afterAll(async () => owner?.close());

test('ops approve prints the differences, and --accept-changes approves anyway', async () => {
  const runId = await stale();
  const ops = await createOps({ OPS_API_URL: engine.url });
  const refused = await ops(['approve', runId, '--yes']);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(/quote +body\.price +7 +9/);
  expect(refused.stderr).toContain('approve it with accept_changes');
  const { stderr, code } = await ops(['approve', runId, '--yes', '--accept-changes']);
  expect([code, stderr.includes('changed')]).toEqual([0, false]);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
});

test('approve_run of MCP says what has changed, and takes accept_changes', async () => {
  const runId = await stale();
  const { digest } = (await call('GET', `/api/runs/${runId}/gates/review`)).body;
  const approve = async (rest: object) => {
    const given = { run_id: runId, digest, ...rest };
    const { content, isError }: any = await owner.callTool({
      name: 'approve_run',
      arguments: given,
    });
    return { text: content[0].text as string, isError };
  };
  const refused = await approve({});
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain('quote.body.price was 7, now 9');
  expect((await approve({ accept_changes: true })).isError).not.toBe(true);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
});

test('the client has the differences in its error', async () => {
  const runId = await stale();
  const client = createClient({ baseUrl: engine.url });
  const error = await client.approve(runId).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 409, stale: { differences: [{ before: 7, now: 9 }] } });
  await client.approve(runId, true, undefined, { acceptChanges: true });
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
});

test('a rehearsal repeats nothing, because its decisions are recorded', async () => {
  const runId = await stale();
  const decisions = { review: { approved: true } };
  const body = { mode: 'recorded', decisions };
  const { status, body: run } = await call('POST', `/api/runs/${runId}/rerun`, body);
  expect(status).toBe(201);
  expect(await engine.ended(run.id)).toMatchObject({ status: 'success' });
  expect(tools.calls('quote')).toHaveLength(1);
});
