import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import type { JsonObject } from '#shared/json.ts';
import { sql } from '#shared/db/pool.ts';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import { createCustomTool } from '#shared/db/tools/custom-tools.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import {
  forkRun,
  type ForkRequest,
  rerunRun,
  type RerunRequest,
} from '#shared/operations/forks/forks.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, mock, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';

const engine = useEngine();
const tools = useToolServer();

const ended = (runId: string) => engine.until(runId, ['success', 'failed']);
const start = async (graph: GraphInput, input: JsonObject = {}) =>
  engine.trigger(await engine.define(graph), input);
const act = (runId: string) => ({ actor: engine.actor, runId, trigger: 'manual' }) as const;

const rehearse = async (runId: string, rest: Partial<RerunRequest> = {}) =>
  (await rerunRun(engine.deps, { ...act(runId), mode: 'recorded', ...rest })).runId;
const rehearseFrom = async (runId: string, fromStep: string, rest: Partial<ForkRequest> = {}) =>
  (await forkRun(engine.deps, { ...act(runId), fromStep, mode: 'recorded', ...rest })).runId;

/** Rehearses with this graph as the newest version. */
async function changed(source: Run, graph: GraphInput, rest: Partial<RerunRequest> = {}) {
  const { workflow_id: id, workflow_version: version } = source;
  await updateWorkflow(engine.db, engine.actor, id, { graph: graph as never });
  return rehearse(source.id, { version: version + 1, ...rest });
}

const reused = ({ steps }: Run) =>
  steps.filter((step) => step.reused_from !== undefined).map(({ step_key }) => step_key);
const executed = ({ steps }: Run) =>
  steps.filter((step) => step.reused_from === undefined).map(({ step_key }) => step_key);

describe('a rehearsal', () => {
  test('with nothing changed ends as its source, and executes nothing', async () => {
    const graph = chain(
      mock('ask', { output: 'Hello {who}', cost_usd: 0.5 }),
      tools.node('first'),
      echo('last', 'ask'),
    );
    const source = await ended(await start(graph, { who: 'Ada' }));
    const rehearsal = await ended(await rehearse(source.id));
    expect(rehearsal).toMatchObject({
      ...{ status: 'success', mode: 'recorded', forked_from: source.id, forked_from_step: null },
      ...{ cost_usd: 0, output: source.output, state: source.state },
    });
    expect(reused(rehearsal)).toEqual(['ask', 'first', 'last']);
    expect(tools.calls('first')).toHaveLength(1);
    expect(source.mode).toBeNull();
  });

  test('computes what has changed, and takes what follows from the record if its input is the same', async () => {
    const graph = (expression: string) =>
      chain(
        echo('word', expression),
        tools.node('send', { params: { ...send, body: '{word}' } }),
        echo('last', 'send.status'),
      );
    const send = { url: `${tools.url}/send`, method: 'POST' };
    const source = await ended(await start(graph("'a' + 'b'")));
    const same = await ended(await changed(source, graph("'ab'")));
    expect(same).toMatchObject({ status: 'success', output: source.output });
    expect([reused(same), executed(same)]).toEqual([['send', 'last'], ['word']]);
    const other = await ended(await changed(source, graph("'abc'"), { version: 3 }));
    expect(other).toMatchObject({
      status: 'failed',
      failure: { kind: 'unrecorded', node_id: 'send' },
      error: "Step 'send' has no record with this input: allow 'http_request:POST' to execute it",
    });
    expect(other.steps.map(({ step_key, status }) => [step_key, status])).toEqual([
      ['word', 'success'],
      ['send', 'unrecorded'],
    ]);
    expect(tools.calls('send')).toHaveLength(1);
    const allowed = await ended(
      await rehearse(source.id, { version: 3, allow: ['http_request:POST'] }),
    );
    expect(allowed).toMatchObject({ status: 'success', mode: 'recorded' });
    expect(tools.calls('send')).toHaveLength(2);
  });

  test('repeats a failure, or executes it', async () => {
    tools.answer('flaky', { status: 400 });
    const graph = chain(tools.node('before'), tools.node('flaky'));
    const source = await ended(await start(graph));
    const rehearsal = await ended(await rehearse(source.id));
    expect(rehearsal).toMatchObject({
      status: 'failed',
      failure: { kind: 'node', node_id: 'flaky' },
      error: source.error,
    });
    expect(rehearsal.steps[1]).toMatchObject({
      status: 'failed',
      error: source.steps[1]!.error,
      reused_from: source.id,
    });
    const retried = await ended(await rehearse(source.id, { failures: 'execute' }));
    expect(retried).toMatchObject({ status: 'failed', failure: { kind: 'unrecorded' } });
    expect(tools.calls('flaky')).toHaveLength(1);
    tools.answer('flaky', {});
    const executedNow = await ended(
      await rehearse(source.id, { failures: 'execute', allow: ['http_request:POST'] }),
    );
    expect(executedNow).toMatchObject({ status: 'success' });
    expect([tools.calls('before').length, tools.calls('flaky').length]).toEqual([1, 2]);
  });

  soakTest('repeats caught errors with their attempts', async () => {
    tools.answer('flaky', { status: 500 });
    const retry = { max_attempts: 2, initial_interval_seconds: 0.01 };
    const graph = {
      nodes: [tools.node('flaky', { retry }), echo('caught', 'flaky.error.attempts')],
      edges: [edge('flaky', 'caught', 'error')],
    } as GraphInput;
    const source = await ended(await start(graph));
    expect(source).toMatchObject({ status: 'success', output: { caught: 2 } });
    const rehearsal = await ended(await rehearse(source.id));
    expect(rehearsal).toMatchObject({ status: 'success', state: source.state });
    expect(tools.calls('flaky')).toHaveLength(2);
  });

  test('takes decisions from the record or the request, and asks no one', async () => {
    const gate = (prompt: string) => ({ id: 'ok', kind: 'human_gate', prompt });
    const graph = (prompt: string) => ({
      nodes: [echo('a', '1'), gate(prompt), echo('yes', "'yes'"), echo('no', "'no'")],
      edges: [edge('a', 'ok'), edge('ok', 'yes', 'true'), edge('ok', 'no', 'false')],
    });
    const runId = await start(graph('Go?') as never);
    await engine.until(runId, ['paused']);
    await engine.approve(runId, { input: { by: 'Ann' } });
    const source = await ended(runId);
    expect(await ended(await rehearse(source.id))).toMatchObject({
      status: 'success',
      state: source.state,
    });
    const paused = await engine.until(await changed(source, graph('Really?') as never), ['paused']);
    expect([paused.pending_gates, paused.steps.at(-1)?.status]).toEqual([[], 'paused']);
    await expect(engine.approve(paused.id)).rejects.toThrow(
      "No one decides the gates of a rehearsal: start another one with 'ok' in its decisions",
    );
    const rejected = await ended(
      await rehearse(source.id, {
        version: 2,
        decisions: { ok: { approved: false, input: { by: 'me' } } },
      }),
    );
    expect(rejected).toMatchObject({
      status: 'success',
      output: { no: 'no' },
      state: { by: 'me' },
    });
  });

  test('ignores decisions of an earlier request if it allows an effect', async () => {
    const name = 'pay';
    const endpoint = { name, endpoint_url: `${tools.url}/pay`, input_schema: { type: 'object' } };
    await createCustomTool(engine.db, engine.actor, customToolInput.parse(endpoint), () => ({}));
    const pay = { id: 'pay', kind: 'tool', tool_name: `custom:${name}`, params: {} };
    const runId = await start(
      chain({ id: 'ok', kind: 'human_gate', prompt: 'Pay?' } as never, pay),
    );
    await engine.until(runId, ['paused']);
    const decided = await ended(await rehearse(runId, { decisions: { ok: { approved: true } } }));
    expect(decided).toMatchObject({
      failure: { kind: 'unrecorded' },
      steps: [{ decision: { by: 'the request', by_kind: 'request' } }, { status: 'unrecorded' }],
    });
    const again = await engine.until(await rehearse(decided.id, { allow: [`custom:${name}`] }), [
      'paused',
    ]);
    expect(again.steps).toMatchObject([{ step_key: 'ok', status: 'paused' }]);
    expect(await ended(await rehearse(decided.id))).toMatchObject({
      steps: [{ reused_from: decided.id, decision: { by_kind: 'request' } }, {}],
    });
    expect(tools.calls('pay')).toEqual([]);
  });

  test('refuses decisions at gates that do not exist', async () => {
    const runId = await start(chain({ id: 'ok', kind: 'human_gate', prompt: 'Go?' } as never));
    await engine.until(runId, ['paused']);
    await expect(rehearse(runId, { decisions: { okay: { approved: true } } })).rejects.toThrow(
      "decisions: 'okay' is no gate of this rehearsal: name 'ok', or a step key of one",
    );
    const other = await ended(await start(chain(echo('a', '1'))));
    await expect(rehearse(other.id, { decisions: { a: { approved: true } } })).rejects.toThrow(
      "decisions: 'a' is no gate of this rehearsal: there is no gate to decide",
    );
  });

  test('takes the turns and calls of agents from the record', async () => {
    const agent = (prompt: string, turns: object[]) => ({
      ...{ id: 'triage', kind: 'agent', model: 'mock', prompt, tools: ['http_request'] },
      mock: { turns },
    });
    const asks = (path: string) => ({
      tool: 'http_request',
      arguments: { url: `${tools.url}/${path}` },
    });
    const graph = (prompt: string, answer: string, path = 'one') =>
      chain(
        agent(prompt, [{ calls: [asks(path)] }, { output: answer }]),
        echo('last', 'triage'),
      ) as GraphInput;
    const source = await ended(await start(graph('Sort {x}', 'done'), { x: 'it' }));
    expect(source).toMatchObject({ status: 'success', output: { last: 'done' } });
    const same = await ended(await rehearse(source.id));
    expect(same).toMatchObject({ status: 'success', output: source.output });
    expect(reused(same)).toEqual(source.steps.map(({ step_key }) => step_key));
    expect(await ended(await changed(source, graph('Sort {x} now', 'soon')))).toMatchObject({
      failure: { kind: 'unrecorded', node_id: 'triage' },
      error: "Step 'triage/1' has no record with this input: allow 'agent' to execute it",
    });
    const asked = await ended(await rehearse(source.id, { version: 2, allow: ['agent'] }));
    expect(asked).toMatchObject({ status: 'success', output: { last: 'soon' } });
    expect(asked.steps.find(({ step_key }) => step_key === 'triage/1.1')?.reused_from).toBe(
      source.id,
    );
    const elsewhere = await ended(
      await changed(source, graph('Sort', 'no', 'two'), { allow: ['agent'], version: 3 }),
    );
    expect(elsewhere).toMatchObject({
      failure: { kind: 'unrecorded' },
      error:
        "Tool 'http_request' failed: Step 'triage/1.1' has no record with this input: allow 'http_request:GET' to execute it",
    });
    expect([tools.calls('one').length, tools.calls('two').length]).toEqual([1, 0]);
    const turn = await ended(await rehearseFrom(source.id, 'triage/2', { state: { y: 1 } }));
    expect(turn).toMatchObject({
      status: 'success',
      output: source.output,
      forked_from_step: 'triage/2',
    });
    expect(
      turn.steps.every(
        (step) =>
          step.reused_from !== undefined || step.node_id === 'last' || step.step_key === 'triage',
      ),
    ).toBe(true);
  });

  soakTest('rehearses the runs that it starts', async () => {
    const inner = await engine.define(chain(echo('n', 'x + 1'), tools.node('inside')));
    const graph = (x: string) => chain(call('sub', inner, { input: { x } }), echo('last', 'sub.n'));
    const source = await ended(await start(graph('{x}'), { x: 1 }));
    expect(source).toMatchObject({ status: 'success' });
    const same = await ended(await rehearse(source.id));
    expect(same).toMatchObject({ status: 'success', output: source.output });
    expect(await childrenOf(engine, same.id)).toEqual([]);
    expect(await ended(await rehearse(source.id, { input: { x: 2 } }))).toMatchObject({
      failure: { kind: 'unrecorded', node_id: 'sub' },
    });
    const other = await ended(await rehearse(source.id, { input: { x: 2 }, allow: ['workflow'] }));
    const [child] = await childrenOf(engine, other.id);
    expect(child).toMatchObject({ status: 'success', mode: 'recorded' });
    expect(reused(await engine.run(child!.id))).toEqual(['inside']);
    expect(other).toMatchObject({ status: 'success' });
    expect(tools.calls('inside')).toHaveLength(1);
  });

  soakTest('takes the rejection of a call, and what follows it, from the record', async () => {
    const asks = { tool: 'http_request', arguments: { url: `${tools.url}/pay` } };
    const triage = {
      ...{ id: 'triage', kind: 'agent', model: 'mock', prompt: '{word}' },
      tools: [{ name: 'http_request', approval: 'always' }],
      mock: { turns: [{ calls: [asks] }, { output: 'not paid' }] },
    };
    const runId = await start(chain(echo('word', "'a' + 'b'"), triage));
    const paused = await engine.until(runId, ['paused']);
    const { digest } = paused.pending_gates[0]!.tool_call!;
    const decision = { actor: engine.actor, runId, approved: false, reason: 'too much', digest };
    await decideGate(engine.deps, decision);
    const source = await ended(runId);
    expect(source).toMatchObject({ status: 'success', output: { triage: 'not paid' } });
    const rehearsal = await ended(await changed(source, chain(echo('word', "'ab'"), triage)));
    expect(rehearsal).toMatchObject({ status: 'success', output: source.output });
    const callOf = (run: Run) => run.steps.find(({ step_key }) => step_key === 'triage/1.1');
    expect(callOf(rehearsal)).toMatchObject({
      status: 'failed',
      error: callOf(source)?.error,
      reused_from: source.id,
    });
    expect(tools.calls('pay')).toHaveLength(0);
  });

  soakTest('uses pinned outputs where it is asked to, also for agents with tools', async () => {
    const agent = mock('triage', { turns: [{ output: 'recorded' }] }, { tools: ['http_request'] });
    const last = echo('last', "triage + '/' + send.body.note");
    tools.answer('send', { body: { note: 'recorded' } });
    const source = await ended(await start(chain(agent, tools.node('send'), last)));
    expect(source).toMatchObject({ status: 'success', output: { last: 'recorded/recorded' } });
    for (const [nodeId, output] of [
      ['triage', 'pinned'],
      ['send', { body: { note: 'pinned' } }],
    ] as const) {
      await engine.db.query(sql.unsafe`
        INSERT INTO workflow_pins (workspace_id, workflow_id, member_id, node_id, run_id, step_key, output)
        VALUES (${engine.actor.workspaceId}, ${source.workflow_id}, ${engine.actor.id}, ${nodeId}, ${source.id}, ${nodeId},
                ${JSON.stringify(output)}::json)
      `);
    }
    expect((await ended(await rehearse(source.id))).output).toEqual({ last: 'recorded/recorded' });
    const pinned = await ended(await rehearse(source.id, { pins: true }));
    expect(pinned).toMatchObject({ status: 'success', output: { last: 'pinned/pinned' } });
    expect(tools.calls('send')).toHaveLength(1);
  });

  soakTest('does not wait, and items of maps come from the record', async () => {
    const graph = {
      nodes: [
        { id: 'items', kind: 'map', items: 'list' },
        tools.node('each', { params: { url: `${tools.url}/each`, query: { n: '{items.item}' } } }),
        { id: 'nap', kind: 'tool', tool_name: 'delay', params: { seconds: '{nap}' } },
        echo('last', 'len(items)'),
      ],
      edges: [
        edge('items', 'each', 'true'),
        edge('each', 'items'),
        edge('items', 'nap', 'false'),
        edge('nap', 'last'),
      ],
    } as GraphInput;
    const source = await ended(await start(graph, { list: [1, 2, 3], nap: 0 }));
    const rehearsal = await ended(
      await rehearse(source.id, { input: { list: [1, 2, 3], nap: 3600 } }),
    );
    expect(rehearsal).toMatchObject({ status: 'success', output: source.output });
    const longer = await ended(await rehearse(source.id, { input: { list: [1, 2, 4], nap: 0 } }));
    expect(longer).toMatchObject({
      failure: { kind: 'unrecorded' },
      error: expect.stringContaining("'each#3'"),
    });
    expect(tools.calls('each')).toHaveLength(3);
  });
});
