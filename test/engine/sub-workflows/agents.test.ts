import { afterEach, describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { readMessages } from '#shared/db/agents/messages.ts';
import { decideGate as recordDecision } from '#shared/db/gates/decisions.ts';
import { listGovernanceEvents } from '#shared/db/policies/governance.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { deleteWorkflow, updateWorkflow } from '#shared/db/workflows/workflows.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { decideGate, dispatchAndWake, resumeRun } from '#shared/operations/runs/runs.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { childrenOf } from '#test/support/sub-workflows.ts';

const engine = useEngine();

const alone = (...nodes: never[]): GraphInput => ({ nodes, edges: [] });
const gate = { id: 'ok', kind: 'human_gate', prompt: 'Go on?' } as never;
const numbers = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const double = alone(echo('twice', 'n * 2') as never);
const change = (id: string, body: object) =>
  updateWorkflow(engine.db, engine.actor, id, body as never);
/** Creates a workflow with a name of its own that an agent can offer. */
let names = 0;
const typed = async (graph: GraphInput, input_schema: JsonObject = numbers) => {
  names += 1;
  const name = `Callée ${names}`;
  const id = await engine.define(graph, name);
  await change(id, { input_schema });
  return { id, name, tool: `workflow:${name}` };
};
const numbered = (tool: string, ...each: Json[]) => ({
  calls: each.map((n) => ({ tool, arguments: { n } })),
});
const agent = (offered: unknown[], ...turns: object[]) =>
  ({
    ...{ id: 'a', kind: 'agent', prompt: 'Go', tools: offered },
    mock: { turns: [...turns, { output: 'done' }] },
  }) as never;
const start = async (graph: GraphInput, input: JsonObject = {}) =>
  engine.trigger(await engine.define(graph), input);
const ended = (runId: string) => engine.until(runId, ['success', 'failed']);
const act = (runId: string) => ({ actor: engine.actor, runId });
const stepOf = async (runId: string, key: string) =>
  (await engine.run(runId)).steps.find(({ step_key }) => step_key === key);
const results = async (runId: string, agentKey = 'a') => {
  const scope = { workspaceId: engine.actor.workspaceId, runId, agentKey };
  return ((await readMessages(engine.db, scope)) ?? []).flatMap((message) =>
    message.role === 'tool' ? [[message.is_error, message.content]] : [],
  );
};
const paused = (runId: string, key: string) =>
  eventually(async () => (await stepOf(runId, key))?.paused_child === true);

describe('a workflow that an agent offers', () => {
  test('runs once for each call, concurrently and in later turns, and its output is the result', async () => {
    const { tool, id } = await typed(double);
    const runId = await start({
      nodes: [agent([tool], numbered(tool, 1, 2), numbered(tool, 3)), echo('after', 'a')],
      edges: [edge('a', 'after')],
    });
    const run = await ended(runId);
    expect(run).toMatchObject({ status: 'success', output: { after: 'done' } });
    expect(await results(runId)).toEqual([
      [false, { twice: 2 }],
      [false, { twice: 4 }],
      [false, { twice: 6 }],
    ]);
    const children = await childrenOf(engine, runId);
    expect(children.map((child) => [child.parent_step_key, child.trigger]).sort()).toEqual([
      ['a/1.1', 'workflow'],
      ['a/1.2', 'workflow'],
      ['a/2.1', 'workflow'],
    ]);
    expect(children.every(({ workflow_id }) => workflow_id === id)).toBe(true);
    const step = await stepOf(runId, 'a/2.1');
    expect(step).toMatchObject({
      ...{ kind: 'tool', label: tool, parent_step_key: 'a', turn: 2, status: 'success' },
      ...{ tool_call: { tool, index: 1 }, input: { n: 3 }, output: { twice: 6 }, attempt: 1 },
      child_run_id: children.find(({ parent_step_key: key }) => key === 'a/2.1')?.id,
    });
    const frames = await engine.frames(runId);
    const ofCall = frames.filter((frame) => 'step_key' in frame && frame.step_key === 'a/2.1');
    expect(ofCall).toMatchObject([
      { type: 'step_started', node_id: 'a', label: tool },
      { type: 'step_completed', node_id: 'a' },
    ]);
    const { events = [] } = await engine.deps.temporal.client.workflow
      .getHandle(runId)
      .fetchHistory();
    // The conversation stays out of the history.
    expect(JSON.stringify(events)).not.toContain(Buffer.from('"twice"').toString('base64'));
  });

  test('is found by its id, takes fixed arguments, and counts its calls', async () => {
    const { id } = await typed(alone(echo('sum', 'n + m') as never), {
      ...numbers,
      properties: { n: { type: 'number' }, m: { type: 'number' } },
      required: ['n', 'm'],
    });
    const tool = `workflow:${id}`;
    const offered = { name: tool, fixed: { m: '{base}' }, max_calls: 1 };
    const runId = await start(alone(agent([offered], numbered(tool, 1, 2))), { base: 10 });
    await ended(runId);
    expect(await results(runId)).toEqual([
      [false, { sum: 11 }],
      [true, `'${tool}' can be called 1 time here, and has been`],
    ]);
    expect(await stepOf(runId, 'a/1.1')).toMatchObject({ input: { n: 1, m: 10 } });
    expect(await childrenOf(engine, runId)).toHaveLength(1);
  });

  test('refuses arguments that do not match before anything runs', async () => {
    const { tool } = await typed(double);
    const open = { name: tool, parameters: { type: 'object' } };
    const runId = await start(alone(agent([tool], numbered(tool, 'many'))));
    await ended(runId);
    expect(await results(runId)).toEqual([[true, expect.stringContaining('do not fit')]]);
    // Its own schema still holds where the agent offers another.
    const other = await start(alone(agent([open], numbered(tool, 'many'))));
    await ended(other);
    expect(await results(other)).toEqual([[true, expect.stringContaining('Invalid input')]]);
    expect(await stepOf(other, 'a/1.1')).toMatchObject({ status: 'failed', error_kind: 'child' });
    for (const id of [runId, other]) expect(await childrenOf(engine, id)).toEqual([]);
  });

  soakTest('runs in the items of a map, and can have an agent that calls another', async () => {
    const lowest = await typed(double);
    const middle = await typed(alone(agent([lowest.tool], numbered(lowest.tool, '{n}'))));
    const runId = await start(
      {
        nodes: [
          { id: 'map', kind: 'map', items: 'list' } as never,
          agent([middle.tool], numbered(middle.tool, '{map.item}')),
        ],
        edges: [edge('map', 'a', 'true'), edge('a', 'map')],
      },
      { list: [1, 2, 3] },
    );
    expect(await ended(runId)).toMatchObject({ output: { map: ['done', 'done', 'done'] } });
    const children = await childrenOf(engine, runId);
    expect(children.map(({ parent_step_key: key }) => key).sort()).toEqual([
      'a#1/1.1',
      'a#2/1.1',
      'a#3/1.1',
    ]);
    for (const child of children) {
      const [below] = await childrenOf(engine, child.id);
      expect(below).toMatchObject({ status: 'success', parent_step_key: 'a/1.1' });
    }
  });
});

describe('a call that fails', () => {
  const failing = alone(mock('broken', { fail_times: 1, output: 'fine' }));

  test('gives the model the error, and the agent continues', async () => {
    const { tool, name } = await typed(failing);
    const runId = await start(alone(agent([tool], numbered(tool, 1))));
    expect((await ended(runId)).status).toBe('success');
    expect(await results(runId)).toEqual([
      [true, `The run of '${name}' failed: Node 'broken' failed: Mock failure 1 of 1`],
    ]);
    expect(await stepOf(runId, 'a/1.1')).toMatchObject({ status: 'failed', error_kind: 'child' });
  });

  test('can fail the agent, and a resume continues the same child and no other call', async () => {
    const { tool } = await typed(failing);
    const good = await typed(double);
    const strict = { name: tool, on_error: 'fail' };
    const first = {
      calls: [...numbered(tool, 1).calls, ...numbered(good.tool, 2).calls],
    };
    const runId = await start(alone(agent([strict, good.tool], first)));
    const run = await ended(runId);
    expect(run.error).toContain(`Tool '${tool}' failed: The run of`);
    const before = await childrenOf(engine, runId);
    await engine.resume(runId);
    expect((await ended(runId)).status).toBe('success');
    const after = await childrenOf(engine, runId);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after.map(({ resumed_count }) => resumed_count).sort()).toEqual([0, 1]);
    expect(await results(runId)).toEqual([
      [false, { broken: 'fine' }],
      [false, { twice: 4 }],
    ]);
    expect(await stepOf(runId, 'a/1.1')).toMatchObject({ attempt: 2 });
  });

  test('fails the agent on an error edge with the kind child', async () => {
    const { tool } = await typed(failing);
    const runId = await start({
      nodes: [
        agent([{ name: tool, on_error: 'fail' }], numbered(tool, 1)),
        echo('handler', 'a.error.kind'),
      ],
      edges: [edge('a', 'handler', 'error')],
    });
    expect(await ended(runId)).toMatchObject({ status: 'success', output: { handler: 'child' } });
  });

  test('is reported if its workflow was deleted or renamed after it was offered', async () => {
    const { id, tool } = await typed(double);
    const offered = { name: tool, approval: 'always' };
    const runId = await start(alone(agent([offered], numbered(tool, 1))));
    const asked = await engine.until(runId, ['paused']);
    const { digest } = asked.pending_gate?.tool_call ?? {};
    await change(id, { name: 'Another name' });
    await expect(engine.approve(runId, { digest })).rejects.toMatchObject({ code: 'conflict' });
    await change(id, { name: tool.slice('workflow:'.length) });
    await engine.approve(runId, { digest });
    await ended(runId);
    expect(await results(runId)).toEqual([[false, { twice: 2 }]]);

    const held = await typed(chain(gate, echo('twice')));
    const first = numbered(held.tool, 1);
    const later = await start(alone(agent([held.tool], first, first)));
    await paused(later, 'a/1.1');
    const [child] = await childrenOf(engine, later);
    await change(held.id, { name: 'Renamed meanwhile' });
    await engine.approve(child!.id);
    const run = await ended(later);
    expect(run.error).toContain(
      `Its tools cannot be offered: There is no workflow '${held.name}' in this workspace: create it, or name another one`,
    );
    await change(held.id, { name: held.name, graph: double });
    await engine.resume(later);
    expect((await ended(later)).status).toBe('success');
    expect(await results(later)).toEqual([
      [false, { twice: 'twice' }],
      [false, { twice: 2 }],
    ]);
  });

  soakTest('because its run was deleted', async () => {
    const { id, tool } = await typed(alone(gate));
    const runId = await start(alone(agent([tool], numbered(tool, 1))));
    await paused(runId, 'a/1.1');
    await deleteWorkflow(engine.db, engine.actor, id);
    // The next turn cannot offer it.
    expect((await ended(runId)).error).toContain('cannot be offered');
    expect(await results(runId)).toEqual([[true, 'The run that it started was deleted']]);
  });

  soakTest('because it would be too deep is an error of the call', 60_000, async () => {
    let { tool } = await typed(double);
    for (let level = 0; level < 8; level += 1) {
      ({ tool } = await typed(alone(agent([{ name: tool, on_error: 'fail' }], numbered(tool, 1)))));
    }
    const runId = await start(alone(agent([tool], numbered(tool, 1))));
    await engine.until(runId, ['success'], 40_000);
    expect(await results(runId)).toEqual([[true, expect.stringContaining('up to a depth of 8')]]);
  });
});

describe('a call whose run waits', () => {
  test('is shown as paused in a running parent, and continues with the decision', async () => {
    const { tool } = await typed(chain(gate, echo('end')));
    const other = await typed(double);
    const calls = [...numbered(tool, 1).calls, ...numbered(other.tool, 2).calls];
    const runId = await start(alone(agent([tool, other.tool], { calls })));
    await paused(runId, 'a/1.1');
    await eventually(async () => (await stepOf(runId, 'a/1.2'))?.status === 'success');
    expect((await engine.run(runId)).status).toBe('running');
    const [child] = (await childrenOf(engine, runId)).filter(({ status }) => status === 'paused');
    await engine.approve(child!.id);
    expect((await ended(runId)).status).toBe('success');
    expect(await results(runId)).toEqual([
      [false, { end: 'end' }],
      [false, { twice: 4 }],
    ]);
  });

  soakTest('is cancelled with the parent, and continues with it', async () => {
    const { tool } = await typed(chain(gate, echo('end')));
    const runId = await start(alone(agent([tool], numbered(tool, 1, 2))));
    await paused(runId, 'a/1.1');
    await paused(runId, 'a/1.2');
    await engine.cancel(runId);
    const children = await childrenOf(engine, runId);
    expect(children.map(({ failure }) => failure)).toEqual(
      children.map(() => ({ kind: 'cancelled', with_parent: true })),
    );
    await engine.resume(runId);
    for (const { id } of children) {
      await engine.until(id, ['paused']);
      await engine.approve(id);
    }
    expect((await ended(runId)).status).toBe('success');
    expect(await childrenOf(engine, runId)).toHaveLength(2);
    expect(await results(runId)).toEqual([
      [false, { end: 'end' }],
      [false, { end: 'end' }],
    ]);
  });

  soakTest('is found again by the agent that failed beside it', async () => {
    const { tool } = await typed(chain(gate, echo('end')));
    const broken = await typed(alone(mock('broken', { fail_times: 1, output: 'fine' })));
    const calls = [...numbered(tool, 1).calls, ...numbered(broken.tool, 2).calls];
    const strict = { name: broken.tool, on_error: 'fail' };
    const runId = await start(alone(agent([tool, strict], { calls })));
    expect((await ended(runId)).status).toBe('failed');
    await engine.resume(runId);
    const children = await childrenOf(engine, runId);
    const waiting = children.find(({ parent_step_key: key }) => key === 'a/1.1')!;
    await engine.until(waiting.id, ['paused']);
    await engine.approve(waiting.id);
    expect((await ended(runId)).status).toBe('success');
    expect(await results(runId)).toEqual([
      [false, { end: 'end' }],
      [false, { broken: 'fine' }],
    ]);
    expect(await childrenOf(engine, runId)).toHaveLength(2);
  });

  test('rejected in the child is the error of the call', async () => {
    const { tool, name } = await typed(alone(gate));
    const runId = await start(alone(agent([tool], numbered(tool, 1))));
    await paused(runId, 'a/1.1');
    const [child] = await childrenOf(engine, runId);
    await engine.decide(child!.id, { approved: false });
    expect((await ended(runId)).status).toBe('success');
    expect(await results(runId)).toEqual([
      [true, expect.stringContaining(`The run of '${name}' failed`)],
    ]);
  });
});

describe('governance of a call', () => {
  afterEach(() => set({}));
  const set = (policies: Partial<Policies>) =>
    replacePolicies(engine.db, engine.actor, { ...unrestricted, ...policies });

  test('an approval is valid for exactly the arguments that were approved', async () => {
    const { tool } = await typed(double);
    const offered = { name: tool, approval: 'args.n > 5' };
    const runId = await start(alone(agent([offered], numbered(tool, 6, 1))));
    const asked = await engine.until(runId, ['paused']);
    expect(asked.pending_gate).toMatchObject({ kind: 'tool_call', step_key: 'a/1.1' });
    expect(await childrenOf(engine, runId)).toHaveLength(1);
    const { digest } = asked.pending_gate?.tool_call ?? {};
    const edited = { ...act(runId), approved: true, digest, arguments: { n: 50 } };
    await decideGate(engine.deps, edited);
    await ended(runId);
    expect(await results(runId)).toEqual([
      [false, { twice: 100 }],
      [false, { twice: 2 }],
    ]);
    expect(await stepOf(runId, 'a/1.1')).toMatchObject({
      ...{ input: { n: 50 }, attempt: 1, kind: 'tool' },
      decision: { approved: true },
    });
  });

  test.each(['name', 'id'] as const)(
    'an approval is valid for the version that was offered by its %s, even if it changes before the start',
    async (by) => {
      const called = await typed(double);
      const { id, name } = called;
      const tool = `workflow:${called[by]}`;
      const offered = { name: tool, approval: 'always' };
      const waiting = async () => {
        const runId = await start(alone(agent([offered], numbered(tool, 6))));
        const { pending_gate: asked } = await engine.until(runId, ['paused']);
        return { ...act(runId), approved: true, digest: asked?.tool_call?.digest };
      };
      const [early, late] = [await waiting(), await waiting()];
      await change(id, { graph: alone(echo('twice', 'n * 1000') as never) });
      await expect(decideGate(engine.deps, late)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('has changed since the call was requested'),
      });
      // As if its decision had been committed before the change.
      const decided = await recordDecision(engine.db, early);
      if (decided.outcome !== 'decided') throw new Error(decided.outcome);
      dispatchAndWake(engine.deps, decided.row, decided.first);
      await ended(early.runId);
      const refusal = [true, expect.stringContaining('the tool has changed since')];
      expect(await results(early.runId)).toEqual([refusal]);
      expect(await childrenOf(engine, early.runId)).toEqual([]);

      // The name has come to mean another workflow, and the id has not.
      const renamed = await waiting();
      await change(id, { name: `${name}, before` });
      const other = await engine.define(double, name);
      await change(other, { input_schema: numbers });
      if (by === 'name') {
        await expect(decideGate(engine.deps, renamed)).rejects.toMatchObject({ code: 'conflict' });
      } else {
        await decideGate(engine.deps, renamed);
        await ended(renamed.runId);
        expect(await results(renamed.runId)).toEqual([[false, { twice: 6_000 }]]);
      }
    },
  );

  test.each(['the name in the graph', 'the id', 'the name'])(
    'the policies of its tool apply by %s, and their refusal never fails the agent',
    async (by) => {
      const { tool, id, name } = await typed(double);
      const named = by === 'the name' ? `workflow:${id}` : tool;
      const rule = by === 'the id' ? `workflow:${id}` : `workflow:${name}`;
      await set({
        tools: [{ tool: rule, blocked_arguments: [{ argument: 'n', values: [13] }] }],
      });
      const offered = { name: named, on_error: 'fail' };
      const runId = await start(alone(agent([offered], numbered(named, 13, 1))));
      expect((await ended(runId)).status).toBe('success');
      const reason = `Argument 'n' of tool '${rule}' has a blocked value`;
      expect(await results(runId)).toEqual([
        [true, reason],
        [false, { twice: 2 }],
      ]);
      expect(await childrenOf(engine, runId)).toHaveLength(1);
      expect(await stepOf(runId, 'a/1.1')).toMatchObject({
        ...{ status: 'failed', error_kind: 'policy' },
        policy: [{ type: 'tool_argument_blocked', decision: 'blocked', reason }],
      });
      const filter = { run_id: runId, limit: 10, offset: 0 };
      const events = await listGovernanceEvents(engine.db, engine.actor.workspaceId, filter);
      expect(events).toMatchObject([{ type: 'tool_argument_blocked', node_id: 'a', reason }]);
    },
  );

  test('a tool that is not allowed in this workflow starts nothing', async () => {
    const { tool } = await typed(double);
    await set({ tools: [{ tool, allowed_workflow_ids: ['wf_other'] }] });
    const runId = await start(alone(agent([tool], numbered(tool, 1))));
    await ended(runId);
    expect(await results(runId)).toEqual([[true, expect.stringContaining('is not allowed')]]);
    expect(await childrenOf(engine, runId)).toEqual([]);
  });

  test('arguments and result are redacted', async () => {
    const schema = { type: 'object', properties: { to: { type: 'string' } } };
    const { tool } = await typed(
      alone(echo('back', "to + ' from ' + 'ada' + '@' + 'example.com'") as never),
      schema,
    );
    await set({ redaction: { detectors: ['email'], patterns: [] } });
    const calls = [{ tool, arguments: { to: 'bob@example.com' } }];
    const runId = await start(alone(agent([tool], { calls })));
    await ended(runId);
    expect(await results(runId)).toEqual([
      [false, { back: '[REDACTED:email] from [REDACTED:email]' }],
    ]);
    const step = await stepOf(runId, 'a/1.1');
    expect(step).toMatchObject({ input: { to: '[REDACTED:email]' } });
    // Both redactions say the same.
    expect(step?.policy).toMatchObject([{ type: 'data_redacted', evidence: { email: 1 } }]);
    const [child] = await childrenOf(engine, runId);
    expect((await engine.run(child!.id)).input).toEqual({ to: '[REDACTED:email]' });
  });

  test('its cost counts in the parent, and a stop by a cap stops the agent', async () => {
    const { tool } = await typed(
      chain(mock('one', { cost_usd: 0.4 }), mock('two', { cost_usd: 0.4 })),
    );
    const graph: GraphInput = {
      nodes: [agent([tool], numbered(tool, 1, 2)), echo('caught')],
      edges: [edge('a', 'caught', 'error')],
    };
    const free = await ended(await start(graph));
    expect(free).toMatchObject({ status: 'success', cost_usd: 0, children_cost_usd: 1.6 });
    const capped = await engine.define(graph);
    await change(capped, { run_cap_usd: 0.5 });
    const runId = await engine.trigger(capped);
    const run = await ended(runId);
    // Never caught, nor given to the model.
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'budget' } });
    expect(run.steps.map(({ step_key: key }) => key)).not.toContain('caught');
    await resumeRun(engine.deps, { ...act(runId), override: { capMicros: 5_000_000 } });
    expect(await ended(runId)).toMatchObject({ status: 'success', children_cost_usd: 1.6 });
    expect(await childrenOf(engine, runId)).toHaveLength(2);
  });
});

describe('validation', () => {
  const problems = async (workflowId: string) => {
    const scope = { workspaceId: engine.actor.workspaceId, workflowId };
    const { errors } = await validateWorkflow(engine.db, scope, engine.deps.config.models);
    return errors.map(({ code, message, path }) => ({ code, message, path }));
  };

  test('names what an agent cannot offer', async () => {
    await engine.define(double, 'Without a schema');
    const id = await engine.define(
      alone(agent(['workflow:Nobody', 'http_request', 'workflow:Without a schema'])),
    );
    expect(await problems(id)).toEqual([
      {
        code: 'workflow_unknown',
        message:
          "Node 'a': There is no workflow 'Nobody' in this workspace: create it, or name another one",
        path: 'nodes[0].tools[0]',
      },
      {
        code: 'tool_without_schema',
        message: expect.stringContaining('give the workflow an input_schema'),
        path: 'nodes[0].tools[2]',
      },
    ]);
  });

  test('follows the tools of agents in its search for a cycle', async () => {
    const top = await typed(double);
    const middle = await typed(alone(agent([top.tool])));
    const node = { id: 'sub', kind: 'workflow', workflow: middle.name } as never;
    const last = await typed(alone(node));
    expect(await problems(last.id)).toEqual([]);
    await change(top.id, { graph: alone(agent(['http_request', { name: last.tool }])) });
    const way = [top, last, middle, top].map(({ name }) => `'${name}'`).join(' → ');
    expect(await problems(top.id)).toEqual([
      {
        code: 'workflow_cycle',
        message: `Node 'a': the workflow would start itself, ${way}: remove one of these calls`,
        path: 'nodes[0].tools[1]',
      },
    ]);
    expect(await problems(last.id)).toMatchObject([{ code: 'workflow_cycle' }]);
    await expect(engine.trigger(top.id, { n: 1 })).rejects.toMatchObject({ code: 'graph_invalid' });
  });

  test('checks a draft by its own calls', async () => {
    const { id, name } = await typed(double);
    const scope = { workspaceId: engine.actor.workspaceId, workflowId: id };
    const graphOf = (...nodes: object[]) => ({ nodes, edges: [] }) as unknown as Json;
    for (const node of [
      { id: 'a', kind: 'agent', tools: [`workflow:${name}`] },
      { id: 'a', kind: 'workflow', workflow: id },
    ]) {
      const { errors } = await validateWorkflow(engine.db, scope, engine.deps.config.models, {
        graph: graphOf(node),
        inputSchema: numbers,
      });
      expect(errors.map(({ code }) => code)).toEqual(['workflow_cycle']);
    }
  });
});
