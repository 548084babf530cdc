import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAgentLoop } from '#shared/agents/loop.ts';
import { mockTurnCost } from '#shared/agents/cost-bounds.ts';
import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { AgentNode, Graph, GraphNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { callKey } from '#shared/graph/children/called-workflows.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import type { Bounds } from '#shared/graph/dry-run/bounds.ts';
import { dryRun } from '#shared/graph/dry-run/plan.ts';
import type { DryRunAnalysis } from '#shared/graph/dry-run/request.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import { prepareTools } from '#shared/graph/prepare/agent.ts';
import { prepareStep } from '#shared/graph/prepare/step.ts';
import type { JsonObject } from '#shared/json.ts';
import { toMicros } from '#shared/money/money.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { asTool } from '#shared/tools.ts';
import { childWorkflow, randomGraph, randomInput } from './build.ts';
import { type Observed, runInShell } from './shell.ts';
import { hash, type World, worldOf } from './world.ts';

/**
 * `GRAPHS` sets the number of graphs. The report of a failure has a seed and a path, which repeat it. About 3% of the graphs
 * have an exact cost, so of 1,500 fewer than 1% have one only once in millions of runs.
 */
const { GRAPHS = '1500', GRAPH_SEED, GRAPH_PATH } = process.env;
const settings = {
  numRuns: Number(GRAPHS),
  ...(GRAPH_SEED === undefined ? {} : { seed: Number(GRAPH_SEED) }),
  ...(GRAPH_PATH === undefined ? {} : { path: GRAPH_PATH }),
};

const workflowId = 'wf-generated';

/** The agents of a graph with costs, and some with fewer turns than their script. */
function priced(graph: Graph, salt: number): Graph {
  const nodes = graph.nodes.map((node): GraphNode => {
    if (node.kind !== 'agent') return node;
    const chance = hash(`${salt} ${node.id}`);
    const cost_usd = (chance % 40) / 1_000;
    const turns = node.mock?.turns?.map((turn, at) => ({ ...turn, cost_usd: (at + 1) / 100 }));
    const limit =
      node.tools === undefined
        ? {}
        : [{}, { max_turns: 1 }, { max_turns: 1, on_max_turns: 'answer' as const }][chance % 3];
    return { ...node, ...limit, mock: { ...node.mock, cost_usd, ...(turns && { turns }) } };
  });
  return { ...graph, nodes };
}

/** Policies that block, redact and let through, of steps that generated graphs have. */
const randomPolicies: fc.Arbitrary<Policies> = fc.record({
  limits: fc.constant([]),
  model_allowlist: fc.constantFrom(null, null, null, ['mock'], ['openai/gpt-5']),
  tools: fc.constantFrom<Policies['tools']>(
    [],
    [],
    [{ tool: 'http_request', blocked_arguments: [{ argument: 'url', pattern: '/2$' }] }],
    [{ tool: 'http_request', blocked_arguments: [{ argument: 'method', values: ['get'] }] }],
    [{ tool: 'http_request', allowed_workflow_ids: [workflowId] }],
    [{ tool: 'json_transform', allowed_workflow_ids: [] }],
    [{ tool: 'json_transform', blocked_arguments: [{ argument: 'expression', pattern: 'n3' }] }],
    [{ tool: 'workflow:Child', blocked_arguments: [{ argument: 'at', pattern: '2' }] }],
  ),
  redaction: fc.constantFrom<Policies['redaction']>(
    unrestricted.redaction,
    unrestricted.redaction,
    { ...unrestricted.redaction, patterns: [{ name: 'in', regex: '\\bin\\b' }] },
    { ...unrestricted.redaction, patterns: [{ name: 'two', regex: '2' }] },
  ),
});

/** The turns of an agent on the mock, which the loop of the engine asks for. `cost` in micro-dollars. */
function converse(node: AgentNode): { cost: number; answers: boolean } {
  const loop = createAgentLoop(node);
  const open = loop.start();
  let cost = 0;
  for (let action = open.shift(); action !== undefined; action = open.shift()) {
    if (action.do === 'fail' || action.do === 'answer') {
      return { cost, answers: action.do === 'answer' };
    }
    if (action.do !== 'ask') {
      open.push(...loop.settled(action.call.index));
      continue;
    }
    cost += toMicros(mockTurnCost(node, action.turn));
    const calls = action.tools ? (node.mock?.turns?.[action.turn - 1]?.calls ?? []) : [];
    const asked = calls.map(({ tool }, at) => ({ index: at + 1, tool, needs_approval: false }));
    open.push(...loop.asked(calls.length === 0 ? { answer: null } : { calls: asked }));
  }
  throw new Error('the agent does not end');
}

/** A node as the engine judges it, with what its calls send. The first judgment is of the step itself. */
function stepsToJudge(node: GraphNode, state: JsonObject) {
  const tool = (tool_name: string): ToolNode => ({
    id: node.id,
    kind: 'tool',
    tool_name,
    params: {},
  });
  const names = (name: string) => (name === asTool('Child') ? [asTool('wf-child')] : []);
  if (node.kind === 'workflow') {
    const params = renderValue(node.input, state) as JsonObject;
    const called = asTool(node.workflow);
    return [{ node: tool(called), params, state: {}, aliases: names(called) }];
  }
  if (node.kind !== 'agent' && node.kind !== 'tool') return [];
  if (node.kind === 'tool' || node.tools === undefined) {
    const { node: bare, params, state: sent } = prepareStep(node, state);
    return [{ node: bare, params, state: sent }];
  }
  const { node: bare, prompts, mock } = prepareTools(node, state);
  const script = (
    mock['mock'] as { turns?: { calls?: { tool: string; arguments: JsonObject }[] }[] }
  ).turns;
  return [
    { node: bare, params: { ...prompts, ...mock }, state: {} },
    ...(script ?? []).flatMap(({ calls = [] }) =>
      calls.map((call) => ({
        node: tool(call.tool),
        params: call.arguments,
        state: {},
        aliases: names(call.tool),
      })),
    ),
  ];
}

interface Seen {
  verdicts: Map<string, { verdicts: PolicyVerdict[]; refused: boolean }[]>;
}

/** The world in which the policies refuse steps, and agents run out of turns. */
function governedWorld(salt: number, policies: Policies, seen: Seen): World {
  const compiled = compilePolicies(policies);
  const world = worldOf(salt);
  return {
    ...world,
    failingAttempts: (node, stepKey, state = {}) => {
      const judged = stepsToJudge(node, state).map((step) =>
        judgeStep(compiled, { workflowId, ...step }),
      );
      const refused = judged[0]?.refusal !== undefined;
      const verdicts = judged.flatMap((each) => each.verdicts);
      seen.verdicts.set(node.id, [
        ...(seen.verdicts.get(node.id) ?? []),
        { verdicts: refused ? judged[0]!.verdicts : verdicts, refused },
      ]);
      if (refused) return Infinity;
      if (node.kind === 'agent' && node.tools !== undefined && !converse(node).answers) {
        return Infinity;
      }
      return world.failingAttempts(node, stepKey, state);
    },
  };
}

/** What the run cost, in micro-dollars. */
function costOf(graph: Graph, { steps }: Observed, seen: Seen): number {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  let cost = 0;
  for (const [key, status] of steps) {
    const node = nodes.get(key.split('#')[0]!)!;
    if (node.kind !== 'agent' || status === 'skipped') continue;
    const refused = seen.verdicts.get(node.id)?.some((each) => each.refused) === true;
    if (node.tools !== undefined) cost += refused ? 0 : converse(node).cost;
    else if (status === 'success') cost += toMicros(node.mock?.cost_usd ?? 0);
  }
  return cost;
}

const lies = (value: number, { min, max }: Bounds): boolean =>
  value >= min && (max === null || value <= max);

/** Everything that the run did outside of its bounds. */
function violations(
  graph: Graph,
  observed: Observed,
  seen: Seen,
  { nodes, cost }: DryRunAnalysis,
): string[] {
  const found: string[] = [];
  const real = costOf(graph, observed, seen);
  if (!lies(real, cost)) found.push(`cost ${real} is not in ${JSON.stringify(cost)}`);
  nodes.forEach(({ node_id: id, executions, verdicts }, at) => {
    const own = [...observed.steps].filter(([key]) => key.split('#')[0] === id);
    const count = own.filter(([, status]) => status !== 'skipped').length;
    // A loop or a map of a run that fails does not end.
    const open = observed.failed && ['loop', 'map'].includes(kindOf(graph, id));
    if (!lies(count, open ? { ...executions, min: 0 } : executions)) {
      found.push(`${id} ran ${count} times, not ${JSON.stringify(executions)}`);
    }
    for (const step of seen.verdicts.get(id) ?? []) {
      for (const message of wrongVerdicts(step, verdicts)) found.push(`${id} (${at}): ${message}`);
    }
  });
  return found;
}

const kindOf = (graph: Graph, id: string): string =>
  graph.nodes.find((node) => node.id === id)!.kind;

function wrongVerdicts(
  { verdicts: real, refused }: { verdicts: PolicyVerdict[]; refused: boolean },
  said: DryRunAnalysis['nodes'][number]['verdicts'],
): string[] {
  const found: string[] = [];
  for (const { policy, decision } of real) {
    const same = decision === 'redacted' ? 'redacted' : 'blocked';
    if (
      said.some((each) => each.policy === policy && ['at_run_time', same].includes(each.decision))
    ) {
      continue;
    }
    found.push(`${policy} ${decision} was not foreseen`);
  }
  for (const { policy, decision } of said) {
    if (decision !== 'redacted' && decision !== 'blocked') continue;
    // What an agent offers is judged when it is called.
    if (!refused && decision === 'blocked' && policy.startsWith('tool_')) continue;
    if (real.some((each) => each.policy === policy)) continue;
    found.push(`${policy} ${decision} did not happen`);
  }
  return found;
}

const called = {
  [callKey({ workflow: childWorkflow.name })]: {
    ...{ workflowId: 'wf-child', name: childWorkflow.name, capMicros: null },
    graph: childWorkflow.graph,
  },
};

const analysisOf = (graph: Graph, policies: Policies, input?: JsonObject): DryRunAnalysis =>
  dryRun(
    {
      ...{ workflowId, graph, input, capMicros: null, policies: JSON.stringify(policies) },
      ...{ prices: {}, customTools: {}, called },
    },
    { policies: compilePolicies(policies), judgeStep },
  );

test('a run of any graph costs, executes and is judged as its dry run predicts', () => {
  const tight = { costs: 0, executions: 0, counted: 0, narrower: 0 };
  fc.assert(
    fc.property(
      randomGraph,
      randomInput,
      fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 30 }),
      fc.nat({ max: 10_000 }),
      randomPolicies,
      (drawn, input, picks, salt, policies) => {
        const graph = priced(drawn, salt);
        const seen: Seen = { verdicts: new Map() };
        const world = governedWorld(salt, policies, seen);
        const observed = runInShell(compileGraph(graph), input, world, { picks, resumes: false });
        const known = analysisOf(graph, policies, input);
        const any = analysisOf(graph, policies);
        expect(violations(graph, observed, seen, known)).toEqual([]);
        expect(violations(graph, observed, seen, any)).toEqual([]);
        if (known.cost.min === known.cost.max && known.cost.min > 0) tight.costs += 1;
        for (const { executions } of known.nodes) {
          tight.counted += 1;
          if (executions.min === executions.max) tight.executions += 1;
        }
        const sum = ({ nodes }: DryRunAnalysis) =>
          nodes.reduce((all, { executions }) => all + (executions.max ?? Infinity), 0);
        if (sum(known) < sum(any)) tight.narrower += 1;
      },
    ),
    settings,
  );
  const graphs = Number(GRAPHS);
  // Bounds that are never narrow would always hold.
  expect(tight.costs).toBeGreaterThan(graphs / 100);
  expect(tight.executions).toBeGreaterThan(tight.counted / 4);
  expect(tight.narrower).toBeGreaterThan(graphs / 10);
});
