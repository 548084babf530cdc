import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { readMessages } from '#shared/db/agents/messages.ts';
import { createCustomTool } from '#shared/db/tools/custom-tools.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { edge, echo, eventually, startEngine } from '#test/support/engine.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';
import { deleteHistory, hasContinuedAsNew, readable } from '#test/support/executions.ts';

const models = useStage(startModelServer);
const engine = useStage(() => startEngine({ env: modelSettings(models) }));

type Node = GraphInput['nodes'] extends (infer N)[] | undefined ? N : never;

const sum = { expression: '20 + 1' };
const agent = (
  turns: unknown[],
  { delay_ms, ...rest }: { delay_ms?: number; [key: string]: unknown } = {},
): Node =>
  ({
    id: 'triage',
    kind: 'agent',
    system_prompt: 'You are {role}',
    prompt: 'Handle {ticket}',
    tools: ['json_transform'],
    mock: { turns, ...(delay_ms === undefined ? {} : { delay_ms }) },
    ...rest,
  }) as unknown as Node;

const input = { role: 'an agent', ticket: 'SECRET-TICKET' };

async function start(node: Node, ...more: Node[]): Promise<string> {
  const workflowId = await engine.define({
    nodes: [node, ...more],
    edges: more.map((each) => edge('triage', each.id)),
  });
  return engine.trigger(workflowId, input);
}

/** The results of its calls, as the model reads them. */
async function resultsOf(runId: string): Promise<unknown[]> {
  const scope = { workspaceId: engine.actor.workspaceId, runId, agentKey: 'triage' };
  const messages = (await readMessages(engine.db, scope)) ?? [];
  return messages.flatMap((message) =>
    message.role === 'tool' ? [[message.index, message.is_error, message.content]] : [],
  );
}

/** Sorted: calls of a turn start at the same time. */
const keys = (steps: readonly { step_key: string; status: string }[]) =>
  steps.map((step) => `${step.step_key} ${step.status}`).sort();

/** An entry for the tool server, with the URL set by the node. */
const effect = (tools: ToolServer, name: string, rest: object = {}) => {
  const args = { url: `${tools.url}/${name}`, method: 'POST' };
  return { name: 'http_request', ['fixed']: args, ...rest };
};
const effects = (...numbers: number[]) => ({
  calls: numbers.map((n) => ({ tool: 'http_request', arguments: { body: { n } } })),
});
const numbersAt = (tools: ToolServer, name: string): number[] =>
  tools.calls(name).map((seen) => (JSON.parse(seen.body) as { n: number }).n);

soakDescribe('an agent whose execution is replaced', () => {
  let tools: ToolServer;
  beforeAll(async () => {
    tools = await startToolServer();
  });
  afterAll(() => tools.close());

  test('continues as new in the middle of a conversation, and repeats nothing', async () => {
    const turns = Array.from({ length: 49 }, (_, turn) =>
      effects(...[0, 1, 2].map((n) => turn * 3 + n)),
    );
    const node = agent([...turns, { output: 'done' }], {
      tools: [effect(tools, 'many')],
      max_turns: 50,
      delay_ms: 1,
    });
    const runId = await start(node);
    const run = await engine.until(runId, ['success', 'failed'], 120_000);
    expect([run.error, run.state?.['triage']]).toEqual([null, 'done']);
    expect(numbersAt(tools, 'many').sort((a, b) => a - b)).toEqual([...Array(147).keys()]);
    expect(await hasContinuedAsNew(engine, runId)).toBe(true);
  }, 150_000);

  test('continues from the ledger when its history is gone, and repeats only the failed call', async () => {
    const node = agent([effects(1, 2), effects(3), effects(4, 5), { output: 'done' }], {
      tools: [effect(tools, 'fragile', { on_error: 'fail' })],
      delay_ms: 1,
    });
    let calls = 0;
    tools.answer('fragile', {});
    const runId = await start(node);
    await eventually(() => {
      calls = tools.calls('fragile').length;
      if (calls >= 3) tools.answer('fragile', { status: 400 });
      return calls >= 3;
    });
    await engine.until(runId, ['failed']);
    await deleteHistory(engine, runId);
    tools.answer('fragile', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success', 'failed'], 60_000);
    expect([run.error, run.state?.['triage']]).toEqual([null, 'done']);
    const numbers = numbersAt(tools, 'fragile');
    expect(numbers.slice(0, 3).sort()).toEqual([1, 2, 3]);
    expect(numbers.filter((n) => n <= 3)).toHaveLength(3);
    expect(run.steps.filter((step) => step.step_key === 'triage/2')[0]?.attempt).toBe(1);
  }, 120_000);
});

describe('an agent with tools', () => {
  test('calls tools in turns, each a step, until it answers', async () => {
    const node = agent(
      [
        {
          calls: [
            { tool: 'json_transform', arguments: sum },
            { tool: 'json_transform', arguments: { expression: "'b'" } },
          ],
          cost_usd: 0.01,
        },
        { calls: [{ tool: 'json_transform', arguments: { expression: '3' } }], cost_usd: 0.02 },
        { output: { answer: 42 }, cost_usd: 0.04 },
      ],
      // A delay: a short step that is late on a busy machine is asked, and paid, again.
      { output_key: 'result', delay_ms: 1 },
    );
    const runId = await start(node, echo('after', 'result.answer + 1'));
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run.error).toBeNull();
    expect(keys(run.steps)).toEqual([
      'after success',
      'triage success',
      'triage/1 success',
      'triage/1.1 success',
      'triage/1.2 success',
      'triage/2 success',
      'triage/2.1 success',
      'triage/3 success',
    ]);
    const stepOf = (key: string) => run.steps.find((step) => step.step_key === key);
    expect(run.state).toEqual({ ...input, result: { answer: 42 }, after: 43 });
    expect(run.cost_usd).toBe(0.07);
    expect(run.steps[0]).toMatchObject({ cost_usd: 0.07, model: 'mock', attempt: 1 });
    expect(run.steps[0]?.input).toMatchObject({ prompt: 'Handle SECRET-TICKET' });
    expect(stepOf('triage/1.1')).toMatchObject({
      parent_step_key: 'triage',
      turn: 1,
      tool_call: { tool: 'json_transform', index: 1 },
      label: 'json_transform',
      kind: 'tool',
      output: 21,
    });
    expect(stepOf('triage/2')).toMatchObject({
      parent_step_key: 'triage',
      turn: 2,
      cost_usd: 0.02,
    });
    const frames = (await engine.frames(runId)).map((frame) =>
      [frame.type, 'step_key' in frame ? frame.step_key : undefined].filter(Boolean).join(' '),
    );
    // Calls of a turn run at the same time.
    frames.splice(2, 4, ...frames.slice(2, 6).sort());
    expect(frames).toEqual([
      'step_started',
      'agent_turn triage',
      'step_completed triage/1.1',
      'step_completed triage/1.2',
      'step_started triage/1.1',
      'step_started triage/1.2',
      'agent_turn triage',
      'step_started triage/2.1',
      'step_completed triage/2.1',
      'agent_turn triage',
      'step_completed',
      'step_started',
      'step_completed',
      'run_completed',
    ]);
  });

  soakTest('runs beside many others and other nodes', 90_000, async () => {
    const numbers = Array.from({ length: 40 }, (_, n) => n);
    const nodes = numbers.flatMap((n) => [
      { ...agent([{ calls: [{ tool: 'json_transform', arguments: sum }] }]), id: `agent_${n}` },
      echo(`echo_${n}`),
      echo(`after_${n}`, `agent_${n}`),
    ]);
    const edges = numbers.map((n) => edge(`agent_${n}`, `after_${n}`));
    const runId = await engine.trigger(await engine.define({ nodes, edges }), input);
    const run = await engine.until(runId, ['success', 'failed'], 60_000);
    expect([run.status, run.error]).toEqual(['success', null]);
    expect(run.steps.filter((step) => step.status === 'success')).toHaveLength(40 * 6);
  });

  test('gives the model the errors of unknown tools and failed calls', async () => {
    const node = agent([
      {
        calls: [
          { tool: 'custom:nope' },
          { tool: 'json_transform', arguments: { expression: '1 / 0' } },
        ],
      },
    ]);
    const run = await engine.until(await start(node), ['success', 'failed']);
    expect(run.status).toBe('success');
    expect(keys(run.steps)).toEqual([
      'triage success',
      'triage/1 success',
      'triage/1.2 failed',
      'triage/2 success',
    ]);
    expect(await resultsOf(run.id)).toEqual([
      [1, true, expect.stringContaining('custom:nope')],
      [2, true, expect.stringContaining('division by zero')],
    ]);
  });

  test('fails with the tool, and resumes at its turn', async () => {
    // No server listens there.
    const tool = { name: 'gone', endpoint_url: 'http://127.0.0.1:9/', retry_count: 0 };
    await createCustomTool(engine.deps.db, engine.actor, customToolInput.parse(tool), () => ({}));
    const node = agent(
      [
        { calls: [{ tool: 'json_transform', arguments: sum }] },
        { calls: [{ tool: 'custom:gone' }] },
      ],
      {
        tools: [
          'json_transform',
          { name: 'custom:gone', parameters: { type: 'object' }, on_error: 'fail' },
        ],
      },
    );
    const runId = await start(node);
    const failed = await engine.until(runId, ['failed']);
    expect(failed.error).toContain("Tool 'custom:gone' failed");
    expect(keys(failed.steps)).toEqual([
      'triage failed',
      'triage/1 success',
      'triage/1.1 success',
      'triage/2 success',
      'triage/2.1 failed',
    ]);
    await engine.resume(runId);
    const again = await engine.until(runId, ['failed']);
    expect(again.resumed_count).toBe(1);
    const attempts = again.steps.map((step) => [step.step_key, step.attempt]);
    expect(attempts).toEqual([
      ['triage', 2],
      ['triage/1', 1],
      ['triage/1.1', 1],
      ['triage/2', 1],
      ['triage/2.1', 2],
    ]);
  });

  test('requests approval before a call that needs it, and makes exactly the approved call', async () => {
    const node = agent(
      [{ calls: [{ tool: 'json_transform', arguments: sum }] }, { output: 'done' }],
      { tools: [{ name: 'json_transform', approval: "args.expression != ''" }] },
    );
    const runId = await start(node);
    const paused = await engine.until(runId, ['paused']);
    expect(paused.pending_gates).toEqual([
      expect.objectContaining({
        kind: 'tool_call',
        node_id: 'triage',
        step_key: 'triage/1.1',
        prompt: 'Call json_transform with {"expression":"20 + 1"}?',
        tool_call: expect.objectContaining({ tool: 'json_transform', turn: 1, arguments: sum }),
      }),
    ]);
    expect(keys(paused.steps)).toEqual(['triage running', 'triage/1 success', 'triage/1.1 paused']);
    const { digest = '' } = paused.pending_gate?.tool_call ?? {};
    const decide = (rest: object) => engine.approve(runId, { ...rest });
    await expect(decide({ stepKey: 'triage/1.1' })).rejects.toThrow('send its digest');
    await expect(decide({ digest: 'sha256:00' })).rejects.toThrow(/digest|open gate/);
    await decide({ digest, reason: 'SECRET-REASON' });
    const run = await engine.until(runId, ['success']);
    expect(run.steps[2]).toMatchObject({ step_key: 'triage/1.1', output: 21, attempt: 1 });
    expect(run.steps[2]?.decision).toMatchObject({ approved: true, reason: 'SECRET-REASON' });
  });

  test('gives the model a rejection with its reason', async () => {
    const node = agent([{ calls: [{ tool: 'json_transform', arguments: sum }] }], {
      tools: [{ name: 'json_transform', approval: 'always' }],
    });
    const runId = await start(node);
    const paused = await engine.until(runId, ['paused']);
    const { digest } = paused.pending_gate?.tool_call ?? {};
    await engine.decide(runId, { approved: false, digest, reason: 'too much' });
    const run = await engine.until(runId, ['success']);
    expect(keys(run.steps)).toEqual([
      'triage success',
      'triage/1 success',
      'triage/1.1 failed',
      'triage/2 success',
    ]);
    expect(await resultsOf(runId)).toEqual([[1, true, 'Rejected by Owner: too much']]);
  });

  soakTest('asks again about an open call after a cancel and a resume', async () => {
    const node = agent(
      [{ calls: [{ tool: 'json_transform', arguments: sum }] }, { output: 'done' }],
      {
        tools: [{ name: 'json_transform', approval: 'always' }],
      },
    );
    const runId = await start(node);
    const paused = await engine.until(runId, ['paused']);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    const again = await engine.until(runId, ['paused']);
    expect(again.pending_gate?.tool_call?.digest).toBe(paused.pending_gate?.tool_call?.digest);
    const { digest } = again.pending_gate?.tool_call ?? {};
    await engine.approve(runId, { digest });
    const run = await engine.until(runId, ['success']);
    expect(run.steps.find((step) => step.step_key === 'triage/1.1')?.output).toBe(21);
  });

  soakTest('needs twelve events for a turn with a call, without the conversation', async () => {
    const tools = await startToolServer();
    const told = 'SAID-BY-THE-TOOL';
    tools.answer('once', { body: { told } });
    models.answers.push(
      ...Array.from({ length: 10 }, (_, n) => ({
        text: `SAID-BY-THE-MODEL-${n}`,
        calls: [{ name: 'http_request', arguments: { body: { marker: `ARGUMENT-${n}` } } }],
      })),
      { text: 'fine' },
    );
    const node = agent([], {
      model: 'openai/gpt-5-mini',
      mock: undefined,
      tools: [effect(tools, 'once')],
      max_turns: 12,
    });
    const runId = await start(node);
    await engine.until(runId, ['success']);
    expect(tools.calls('once')).toHaveLength(10);
    await tools.close();
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    const { events } = await handle.fetchHistory();
    const count = events?.length ?? Infinity;
    // A start, a last turn and an end besides.
    expect(count).toBeLessThanOrEqual(10 * 12 + 20);
    const text = readable({ events });
    for (const said of [told, 'ARGUMENT', 'SAID-BY-THE-MODEL']) expect(text).not.toContain(said);
    expect(text).toContain('fine');
  });
});
