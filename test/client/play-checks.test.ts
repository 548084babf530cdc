import { describe, expect, test } from '@jest/globals';
import { after, failure, play, PlayError, type PlayOptions } from '#client/testing.ts';
import { draw } from '#test/graph/drawing.ts';

const graph = draw('t -> g\ng -> a', {
  t: { params: { url: 'https://tool.test/' } },
  a: { model: 'openai/gpt-5' },
});

const refusedBy = async (run: Promise<unknown>): Promise<PlayError> => {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlayError);
  return error as PlayError;
};

describe('a test that is not complete', () => {
  test.each<[object, string]>([
    [{ decision: {} }, "Unknown option 'decision'; did you mean 'decisions'?"],
    [{ mocks: { node: {} } }, "Unknown kind of mocks 'node'; did you mean 'nodes'?"],
    [{ mocks: { nodes: { x: 1 } } }, "mocks.nodes: there is no node 'x'; there are t, g, a"],
    [{ mocks: { nodes: { g: 1 } } }, "mocks.nodes: 'g' is a human_gate: decide it in decisions"],
    [
      { mocks: { tools: { http_requst: 1 } } },
      "mocks.tools: No node calls the tool 'http_requst'; did you mean 'http_request'?",
    ],
    [
      { mocks: { agents: { t: 1 } } },
      "mocks.agents: 't' is a tool, and only agents have turns: use mocks.nodes",
    ],
    [{ decisions: { a: 'approve' } }, "decisions: 'a' is an agent, which asks no one"],
    [{ callbacks: { t: 1 } }, "callbacks: 't' is a tool that waits for no callback"],
    [{ workflows: { Other: { a: 1 } } }, "workflows: No node runs the workflow 'Other'"],
    [
      { events: [{ title: 'x' }] },
      "Unknown field of events[0] 'title'; there are name, data, id, after_seconds",
    ],
    [{ clock: { start: 'soon' } }, 'clock.start: must be an ISO time'],
    [
      { decisions: { g: 'yes' } },
      "decisions['g']: a decision is 'approve', 'reject', 'timeout' or an object",
    ],
    [{ decisions: { g: 'timeout' } }, "decisions['g']: gate 'g' has no timeout_seconds"],
    [
      { decisions: { g: { ok: true } } },
      "decisions['g']: unknown field 'ok'; there are approved, input,",
    ],
  ])('is refused with a hint: %j', async (options, message) => {
    const mocks = { nodes: { t: 1 } };
    const error = await refusedBy(play(graph, { mocks, ...options } as PlayOptions));
    expect(error.message).toContain(message);
  });

  test('names the node and the tool of a missing mock, and what to write', async () => {
    const tool = await refusedBy(play(graph));
    expect(tool.message).toBe(
      "Node 't' calls the tool 'http_request', which is not called in a test: give its result in mocks.nodes['t'] or mocks.tools['http_request'], such as { status: 200, headers: {}, body: {} }",
    );
    const mocks = { nodes: { t: 1 } };
    const model = await refusedBy(play(graph, { mocks, decisions: { g: 'approve' } }));
    expect(model.message).toBe(
      "Node 'a' asks the model 'openai/gpt-5', which is not asked in a test: give its answer in mocks.nodes['a']",
    );
    const turns = { mocks: { ...mocks, agents: { a: { turns: [{ output: 1 }] } } } };
    const script = await refusedBy(play(graph, { ...turns, decisions: { g: 'approve' } }));
    expect(script.message).toBe(
      "mocks.agents['a']: the agent has no tools, so it takes no turns: give its answer",
    );
    const code = { nodes: [{ id: 'sum', kind: 'code', source: 'export default () => 1;' }] };
    expect((await refusedBy(play(code))).message).toContain("Node 'sum' is code");
    const child = { nodes: [{ id: 'sub', kind: 'workflow', workflow: 'Other' }] };
    expect((await refusedBy(play(child))).message).toContain("in workflows['Other']");
  });

  test('is not caught by an error edge', async () => {
    const caught = draw('t -error-> a');
    expect((await refusedBy(play(caught))).message).toContain("Node 't' calls the tool");
  });

  test.each<[unknown, string]>([
    [1n, "mocks.nodes['t'] is not JSON"],
    [Symbol('x'), "mocks.nodes['t'] is not JSON: it is a symbol"],
    [failure('x', { error_kind: 'other' as 'node' }), 'error_kind is one of node, timeout'],
  ])('is refused with a mock that the service could not give', async (mock, message) => {
    const run = play(graph, { mocks: { nodes: { t: () => mock as object } } });
    expect((await refusedBy(run)).message).toContain(message);
  });
});

describe('a workflow in a test', () => {
  test('is refused with the errors of the service', async () => {
    const error = await refusedBy(
      play({
        nodes: [
          { id: 'a', kind: 'agent', promt: 'Hi' },
          { id: 'c', kind: 'condition', expression: '1 +' },
        ],
        edges: [{ source: 'a', target: 'x' }],
      }),
    );
    expect(error.message).toMatch(/^Workflow graph invalid: .*unknown key 'promt'/);
    expect(error.errors).toContainEqual(
      expect.objectContaining({ code: 'dangling_edge', path: 'edges[0].target' }),
    );
    expect(error.errors).toContainEqual(
      expect.objectContaining({ code: 'unknown_key', path: 'nodes[0].promt', node_id: 'a' }),
    );
  });

  test('is refused if a schema of it cannot be used', async () => {
    const form = { type: 'object', properties: { a: { type: 'strin' } } };
    const gate = draw('g', { g: { input_schema: form } });
    expect((await refusedBy(play(gate))).errors).toEqual([
      expect.objectContaining({ code: 'gate_schema_invalid', path: 'nodes[0].input_schema' }),
    ]);
  });

  test('takes only input that fits its schema', async () => {
    const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
    const workflow = { name: 'Answer', graph: draw('a'), input_schema: schema };
    const error = await refusedBy(play(workflow));
    expect(error.message).toBe('Invalid input: input.id is missing: add it');
    expect(await play(workflow, { input: { id: 1 } })).toMatchObject({ status: 'success' });
  });

  test('has its checks scored, with the active time', async () => {
    const checks = [
      { name: 'polite', type: 'contains', value: 'dear' },
      { name: 'quick', type: 'max_duration_ms', value: 5_000 },
      { name: 'long', type: 'expression', value: 'duration_ms > 1000000' },
    ];
    const workflow = { name: 'Answer', graph: draw('g -> a'), checks };
    const run = await play(workflow, {
      decisions: { g: { after_seconds: 3_600 } },
      mocks: { nodes: { a: after(5, 'Dear Ada') } },
    });
    expect(run).toMatchObject({ duration_ms: 5_000, waiting_ms: 3_600_000 });
    expect(run.evals).toMatchObject({ passed: 2, total: 3 });
    expect(run.evals?.results.map(({ name, passed }) => `${name} ${passed}`)).toEqual([
      ...['polite true', 'quick true', 'long false'],
    ]);
    const wrong = play({ ...workflow, checks: [{ name: 'x', type: 'contain', value: 1 }] });
    expect((await refusedBy(wrong)).message).toContain('The workflow: checks.0.type');
  });

  test.each([[undefined], ['graph: {}'], [{ name: 'Empty' }]])(
    'must have a graph, unlike %j',
    async (given) => {
      await refusedBy(play(given as object));
    },
  );
});
