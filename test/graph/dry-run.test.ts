import { describe, expect, test } from '@jest/globals';
import { type GraphInput, graphSchema } from '#shared/contract/workflows/graph.ts';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { callKey } from '#shared/graph/children/called-workflows.ts';
import { dryRun } from '#shared/graph/dry-run/plan.ts';
import type { DryRunRequest } from '#shared/graph/dry-run/request.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';

type NodeInput = NonNullable<GraphInput['nodes']>[number];

/** Edges as `a -> b` or `a -true-> b`. */
const graphOf = (nodes: NodeInput[], edges: string[] = []) =>
  graphSchema.parse({
    nodes,
    edges: edges.map((text) => {
      const [, source, condition_value, target] = /^(\w+) -(?:(\w+)-)?> (\w+)$/.exec(text)!;
      return { source, target, ...(condition_value && { condition_value }) };
    }),
  });

const analyse = (
  graph: DryRunRequest['graph'],
  rest: Partial<DryRunRequest> = {},
  policies: Partial<Policies> = {},
) => {
  const all = { ...unrestricted, ...policies };
  return dryRun(
    {
      ...{ workflowId: 'wf', graph, input: {}, capMicros: null, policies: JSON.stringify(all) },
      ...{ prices: {}, customTools: {}, called: {} },
      ...rest,
    },
    { policies: compilePolicies(all), judgeStep },
  );
};

const agent = (id: string, rest: object = {}): NodeInput => ({
  ...{ id, kind: 'agent', prompt: 'Go', mock: { output: 'done', cost_usd: 0.01 } },
  ...rest,
});
const http = (id: string, rest: object = {}): NodeInput => ({
  ...{ id, kind: 'tool', tool_name: 'http_request', params: { url: 'https://api.test/x' } },
  ...rest,
});

const executionsOf = (analysis: ReturnType<typeof dryRun>, id: string) =>
  analysis.nodes.find(({ node_id }) => node_id === id)?.executions;
const costOf = (analysis: ReturnType<typeof dryRun>, id: string) =>
  analysis.nodes.find(({ node_id }) => node_id === id)?.cost;

describe('executions', () => {
  // small -true-> a, -false-> b
  const branch = graphOf(
    [{ id: 'small', kind: 'condition', expression: 'n < 10' }, agent('a'), agent('b')],
    ['small -true-> a', 'small -false-> b'],
  );

  test('follow a condition on the input', () => {
    const known = analyse(branch, { input: { n: 3 } });
    expect(executionsOf(known, 'a')).toEqual({ min: 1, max: 1 });
    expect(executionsOf(known, 'b')).toEqual({ min: 0, max: 0 });
    expect(known.cost).toEqual({ min: 10_000, max: 10_000 });
  });

  test('keep both branches open without an input, or if a node writes the key', () => {
    const any = analyse(branch, { input: undefined });
    expect([executionsOf(any, 'a'), executionsOf(any, 'b')]).toEqual([
      { min: 0, max: 1 },
      { min: 0, max: 1 },
    ]);
    const written = graphOf([...branch.nodes, http('first', { output_key: 'n' })] as NodeInput[], [
      'first -> small',
      'small -true-> a',
      'small -false-> b',
    ]);
    expect(executionsOf(analyse(written, { input: { n: 3 } }), 'b')).toEqual({ min: 0, max: 1 });
  });

  test('keep both branches open behind a gate, whose decision can write any key', () => {
    const gated = graphOf(
      [{ id: 'gate', kind: 'human_gate' }, ...(branch.nodes as NodeInput[])],
      ['gate -> small', 'small -true-> a', 'small -false-> b'],
    );
    expect(executionsOf(analyse(gated, { input: { n: 3 } }), 'b')).toEqual({ min: 0, max: 1 });
  });

  test('multiply in nested loops and maps', () => {
    // each -true-> again -true-> work -> again -> each
    const nested = graphOf(
      [
        { id: 'each', kind: 'map', items: 'list' },
        { id: 'again', kind: 'loop', expression: 'again.iterations < 3', max_iterations: 9 },
        agent('work'),
      ],
      ['each -true-> again', 'again -true-> work', 'work -> again', 'again -> each'],
    );
    const known = analyse(nested, { input: { list: [1, 2, 3, 4] } });
    expect(executionsOf(known, 'work')).toEqual({ min: 12, max: 12 });
    expect(known.cost).toEqual({ min: 120_000, max: 120_000 });
    expect(executionsOf(analyse(nested, { input: undefined }), 'work')).toEqual({
      min: 0,
      max: 30_000,
    });
  });

  test('of a loop end with the first iteration that can fail', () => {
    // again -true-> work -> call -> again
    const loop = graphOf(
      [
        { id: 'again', kind: 'loop', expression: 'again.iterations < 3' },
        agent('work'),
        http('call'),
      ],
      ['again -true-> work', 'work -> call', 'call -> again'],
    );
    expect(executionsOf(analyse(loop), 'work')).toEqual({ min: 1, max: 3 });
  });

  test('know nothing about a key that the body of a loop writes', () => {
    // again -true-> check -true-> work -> again, check -false-> again
    const loop = graphOf(
      [
        { id: 'again', kind: 'loop', expression: 'again.iterations < 3' },
        { id: 'check', kind: 'condition', expression: 'seen == 1' },
        http('work', { output_key: 'seen' }),
      ],
      ['again -true-> check', 'check -true-> work', 'work -> again', 'check -false-> again'],
    );
    expect(executionsOf(analyse(loop, { input: { seen: 1 } }), 'work')).toEqual({
      min: 0,
      max: 3,
    });
  });

  test('of a node parallel to one that can fail are not certain', () => {
    const beside = analyse(graphOf([agent('a'), http('b')]));
    expect(executionsOf(beside, 'a')).toEqual({ min: 0, max: 1 });
    const caught = analyse(graphOf([agent('a'), http('b'), agent('c')], ['b -error-> c']));
    expect(executionsOf(caught, 'a')).toEqual({ min: 1, max: 1 });
    expect(executionsOf(caught, 'c')).toEqual({ min: 0, max: 1 });
  });
});

describe('costs', () => {
  const model = { model: 'acme/one', max_output_tokens: 100 };
  const prices = { 'acme/one': { inputUsd: 1, outputUsd: 10 } };

  test('of a provider are bounded by the bytes sent and the tokens of the answer, for each attempt', () => {
    const graph = graphOf([
      agent('a', { ...model, prompt: 'x'.repeat(9_000), retry: { max_attempts: 3 } }),
    ]);
    const { cost, unbounded } = analyse(graph, { prices });
    // 9,000 bytes, 1,000 tokens around them, quotes and names of the request; 100 tokens of answer.
    expect(cost.min).toBe(0);
    expect(cost.max).toBeGreaterThanOrEqual(3 * (10_000 + 1_000));
    expect(cost.max).toBeLessThan(3 * (10_100 + 1_000));
    expect(unbounded).toEqual([]);
  });

  test('have no upper bound without a limit on the answer, or without a price', () => {
    for (const rest of [{ model: 'acme/one' }, { ...model, model: 'acme/two' }]) {
      const { cost, unbounded } = analyse(graphOf([agent('a', rest)]), { prices });
      expect([cost.max, unbounded]).toEqual([null, ['a']]);
    }
  });

  test('of an agent with tools are bounded by its turns, its calls and the truncation of their results', () => {
    const search = (rest: object) =>
      analyse(graphOf([agent('a', { ...model, tools: ['json_transform'], ...rest })]), { prices });
    const costOf = (rest: object) => search(rest).cost.max!;
    expect(search({}).unbounded).toEqual([]);
    const one = costOf({ max_turns: 1 });
    // The tools, and 100 tokens of an answer.
    expect(one).toBeGreaterThan(2_000);
    expect(one).toBeLessThan(30_000);
    expect(costOf({ max_turns: 1, on_max_turns: 'answer' })).toBe(costOf({ max_turns: 2 }));
    // A second turn reads what the first has written and up to 100 results, each of 100,000 characters.
    const two = costOf({ max_turns: 2 });
    expect(two).toBeGreaterThan(one + 100 * 100_000);
    const called = { tools: [{ name: 'json_transform', max_calls: 1 }], max_turns: 2 };
    expect(costOf(called)).toBeLessThan(two / 10);
    expect(costOf({ ...called, retry: { max_attempts: 3 } })).toBe(3 * costOf(called));
    // The arguments that the node sets can have any size.
    const fixed = [{ name: 'json_transform', fixed: { expression: '{a}' } }];
    const any = graphOf([agent('a', { ...model, tools: fixed, max_turns: 2 })]);
    expect(analyse(any, { prices, input: undefined }).cost).toEqual({ min: 0, max: null });
  });

  test("of an agent that reads another one's answer are bounded by its tokens", () => {
    const graph = graphOf(
      [agent('a', model), agent('b', { ...model, prompt: 'Judge: {a}' })],
      ['a -> b'],
    );
    expect(analyse(graph, { prices }).unbounded).toEqual([]);
    const read = graphOf([http('a'), agent('b', { ...model, prompt: 'Judge: {a}' })], ['a -> b']);
    expect(analyse(read, { prices }).unbounded).toEqual(['b']);
  });

  test('of a mock with turns add up over the turns it can have', () => {
    const calls = [{ tool: 'json_transform', arguments: { expression: '1' } }];
    const mock = {
      turns: [
        { calls, cost_usd: 0.02 },
        { calls, cost_usd: 0.03 },
      ],
      cost_usd: 0.04,
    };
    const turns = { mock, tools: ['json_transform'] };
    expect(analyse(graphOf([agent('a', turns)])).cost).toEqual({ min: 90_000, max: 90_000 });
    const few = analyse(graphOf([agent('a', { ...turns, max_turns: 1 })]));
    expect(few.cost).toEqual({ min: 0, max: 20_000 });
  });

  test('do not exceed a cap or, with an overrun, exceed it by less than one step', () => {
    const graph = graphOf(
      [{ id: 'again', kind: 'loop', expression: 'true', max_iterations: 100 }, agent('work')],
      ['again -true-> work', 'work -> again'],
    );
    expect(analyse(graph).cost).toEqual({ min: 1_000_000, max: 1_000_000 });
    expect(analyse(graph, { capMicros: 55_000 }).cost).toEqual({ min: 45_000, max: 55_000 });
    const oneStep = { capMicros: 50_000, oneStep: true };
    expect(analyse(graph, oneStep).cost).toEqual({ min: 50_000, max: 60_000 });
  });

  test('include those of called workflows, for every attempt', () => {
    const graph = graphOf([
      { id: 'call', kind: 'workflow', workflow: 'Child', retry: { max_attempts: 2 } },
      agent('desk', {
        tools: [{ name: 'workflow:Child', max_calls: 4 }],
        model: 'acme/one',
      }),
    ]);
    const child = { workflowId: 'wf-2', name: 'Child', capMicros: null };
    const childGraph = graphOf([agent('inner'), { id: 'ask', kind: 'human_gate' }]);
    const called = { [callKey({ workflow: 'Child' })]: { ...child, graph: childGraph } };
    const analysis = analyse(graph, { called, prices });
    expect(costOf(analysis, 'call')).toEqual({ min: 0, max: 20_000 });
    expect(analysis.unbounded).toEqual(['call', 'desk']);
    expect(analysis.workflows).toEqual(['wf-2']);
    expect(analysis.gates[0]).toMatchObject({ node_id: 'call', workflow: { name: 'Child' } });
    const unknown = analyse(graph, { prices });
    expect(costOf(unknown, 'call')).toEqual({ min: 0, max: null });
    const refused = analyse(graph, { called: { [callKey({ workflow: 'Child' })]: child }, prices });
    expect(costOf(refused, 'call')).toEqual({ min: 0, max: 0 });
  });

  test('of workflows that call each other end at the maximum depth', () => {
    const call = (workflow: string): NodeInput => ({ id: 'call', kind: 'workflow', workflow });
    const wanted = (workflow: string) => ({
      ...{ workflowId: `wf-${workflow}`, name: workflow, capMicros: null },
      graph: graphOf([agent('work'), call(workflow === 'a' ? 'b' : 'a')]),
    });
    const called = {
      [callKey({ workflow: 'a' })]: wanted('a'),
      [callKey({ workflow: 'b' })]: wanted('b'),
    };
    expect(analyse(graphOf([call('a')]), { called }).cost).toEqual({ min: 0, max: null });
  });
});

describe('durations', () => {
  test('are bounded by timeouts, retries and their pauses', () => {
    const retry = { max_attempts: 3, initial_interval_seconds: 2, backoff: 3 };
    const { duration } = analyse(graphOf([http('a', { retry, timeout_seconds: 5 })]));
    expect(duration).toEqual({ min: 0, max: 3 * 5_000 + 2_000 + 6_000 });
  });

  test('have no upper bound if a person decides without a deadline', () => {
    const gate: NodeInput = { id: 'gate', kind: 'human_gate' };
    expect(analyse(graphOf([gate]))).toMatchObject({
      duration: { max: null },
      unbounded: ['gate'],
    });
    const timed = { ...gate, timeout_seconds: 60, on_timeout: 'reject' } as NodeInput;
    expect(analyse(graphOf([timed])).duration).toEqual({ min: 0, max: 60_000 });
  });

  test('are at least those of the delays that are sure to run', () => {
    const delay = (id: string): NodeInput => ({
      ...{ id, kind: 'tool', tool_name: 'delay', params: { seconds: '{s}' } },
    });
    const { duration } = analyse(graphOf([delay('a'), delay('b')], ['a -> b']), {
      input: { s: 10 },
    });
    expect(duration).toEqual({ min: 19_000, max: 20_000 });
  });
});

describe('verdicts', () => {
  const verdictsOf = (node: NodeInput, policies: Partial<Policies>, input = {}) =>
    analyse(graphOf([node]), { input }, policies).nodes[0]!.verdicts.map(
      ({ policy, decision }) => `${policy} ${decision}`,
    );

  test('report what is known about models', () => {
    const policies = { model_allowlist: ['mock'] };
    expect(verdictsOf(agent('a'), policies)).toEqual(['model_allowlist allowed']);
    const other = agent('a', { model: 'acme/one', fallback_models: ['acme/two'] });
    expect(verdictsOf(other, policies)).toEqual(['model_allowlist blocked', 'fallback blocked']);
  });

  test('report what is known about arguments, and wait for the others', () => {
    const rules = [{ argument: 'body.to', values: ['eve'] }];
    const policies = { tools: [{ tool: 'http_request', blocked_arguments: rules }] };
    const post = (to: string) => http('a', { params: { url: 'https://api.test/x', body: { to } } });
    expect(verdictsOf(post('eve'), policies)).toEqual(['tool_argument blocked']);
    expect(verdictsOf(post('{to}'), policies, { to: 'eve' })).toEqual(['tool_argument blocked']);
    expect(verdictsOf(post('{to}'), policies, { to: 'ann' })).toEqual([
      'tool_permission allowed',
      'tool_argument allowed',
    ]);
    const written = graphOf([http('to'), post('{to}')], ['to -> a']);
    expect(
      analyse(written, {}, policies).nodes[1]!.verdicts.map(({ decision }) => decision),
    ).toEqual(['allowed', 'at_run_time']);
  });

  test('report what is redacted, without the text', () => {
    const policies = { redaction: { ...unrestricted.redaction, detectors: ['email' as const] } };
    const node = agent('a', { prompt: 'Write to {to}' });
    const [redacted] = analyse(graphOf([node]), { input: { to: 'ann@example.com' } }, policies)
      .nodes[0]!.verdicts;
    expect(redacted).toEqual({
      policy: 'dlp',
      decision: 'redacted',
      reason: 'Redacted before sending: 1 email',
    });
    expect(verdictsOf(node, policies, { to: 'Ann' })).toEqual(['dlp allowed']);
  });
});

test('hosts and secrets are those that can be reached', () => {
  const graph = graphOf(
    [
      { id: 'no', kind: 'condition', expression: 'false' },
      http('never', { params: { url: 'https://never.test/' } }),
      http('call', {
        params: { url: 'https://api.test:8443/{id}', headers: { authorization: '{secrets.KEY}' } },
      }),
      agent('desk', { tools: ['http_request', 'custom:crm'] }),
    ],
    ['no -true-> never'],
  );
  const crm = {
    ...{ timeoutSeconds: 5, attempts: 2, host: 'crm.test', bytes: 9, secrets: ['CRM'] },
    readOnly: false,
  };
  const { hosts, secrets } = analyse(graph, { customTools: { crm } });
  expect(hosts).toEqual(['api.test:8443', 'at_run_time', 'crm.test']);
  expect(secrets).toEqual(['CRM', 'KEY']);
});
