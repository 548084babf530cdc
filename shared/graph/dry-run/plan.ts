import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { MAX_RUN_DEPTH } from '#shared/limits.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import { callKey } from '#shared/graph/children/called-workflows.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { repeats } from '#shared/graph/kinds.ts';
import { MAX_STEPS_IN_PLACE } from '#shared/graph/schedule/rounds.ts';
import { type Bounds, exactly, plus, times, total, upTo, ZERO } from './bounds.ts';
import { examine } from './examine.ts';
import type { ChildOf, Examined, Examining } from './examined.ts';
import { type Flow, walk } from './flow.ts';
import { createKnowledge } from './knowledge.ts';
import { type Layout, layoutOf } from './layout.ts';
import { connectionsOf, gateOf, hostsOf, secretsOf } from './outside.ts';
import { usesApprover } from '#shared/graph/node-approval.ts';
import type {
  DryRunAnalysis,
  DryRunRequest,
  ExaminedGraph,
  ReachableGate,
  UsedConnection,
} from './request.ts';
import type { Judge } from './verdicts.ts';

/** For the known expressions and texts of a graph and everything that it calls: about two seconds. */
const MAX_DRY_RUN_WORK = 20_000_000;

/**
 * What a run of a graph can do, without running it, as the policies judge it. Every run lies within the bounds, which
 * account for retries, failures, error edges, loops, maps and the runs that it starts. They do not account for resumes,
 * attempts that are lost with their worker, or the time that steps wait for a worker. The lower bounds apply to a run
 * that no one cancels and no budget stops.
 */
export const dryRun = (request: DryRunRequest, judge: Judge): DryRunAnalysis =>
  analyse(request, sharedFor(request, judge));

const sharedFor = (request: DryRunRequest, judge: Judge): Shared => ({
  request,
  judge,
  budget: { work: MAX_DRY_RUN_WORK },
  known: new Map(),
  open: new Set(),
  depth: 1,
});

/** What is needed to examine the nodes of a graph, without what is known about the state. */
export type Facts = Omit<Examining, 'knowledge' | 'crowded'>;

export const factsFor = (request: DryRunRequest, judge: Judge): Facts =>
  factsOf(request.workflowId, sharedFor(request, judge));

const factsOf = (workflowId: string, shared: Shared): Facts => ({
  request: shared.request,
  judging: { ...shared.judge, workflowId, budget: shared.budget },
  budget: shared.budget,
  childOf: childrenOf(shared),
});

interface Shared {
  request: DryRunRequest;
  judge: Judge;
  budget: WorkBudget;
  /** The results for called workflows, by depth and `callKey`. */
  known: Map<string, DryRunAnalysis>;
  /** Called workflows whose examination is in progress. */
  open: Set<string>;
  depth: number;
}

function analyse(
  graph: ExaminedGraph & Pick<DryRunRequest, 'input'>,
  shared: Shared,
): DryRunAnalysis {
  const layout = layoutOf(compileGraph(graph.graph));
  let flow = flowOf(graph, layout, shared, false);
  if (isCrowded(layout, flow)) flow = flowOf(graph, layout, shared, true);
  return summary(graph, layout, flow, shared);
}

function flowOf(
  { workflowId, input }: ExaminedGraph & Pick<DryRunRequest, 'input'>,
  layout: Layout,
  shared: Shared,
  crowded: boolean,
): Flow {
  const facts = factsOf(workflowId, shared);
  return walk(layout, (left, isDone) => {
    const knowledge = createKnowledge(layout, input, left, isDone);
    const examining = { ...facts, knowledge, crowded };
    return (node) => examine(examining, node, layout.nodes[node]!);
  });
}

/**
 * What called workflows can do. A workflow that calls itself is rejected elsewhere; here it counts as unknown. Runs
 * beyond the maximum depth are refused, so they cost nothing.
 */
const childrenOf =
  (shared: Shared): ChildOf =>
  (call) => {
    const { request, known, open, depth } = shared;
    const key = callKey(call);
    const called = Object.hasOwn(request.called, key) ? request.called[key] : undefined;
    if (called === undefined) return undefined;
    const { workflowId: id, name, capMicros, oneStep = false, graph } = called;
    if (graph === undefined || depth >= MAX_RUN_DEPTH) return { id, name };
    const place = `${depth} ${key}`;
    const found = known.get(place);
    if (found !== undefined) return { id, name, analysis: found };
    if (open.has(key)) return undefined;
    open.add(key);
    const analysis = analyse(
      { workflowId: id, graph, capMicros, oneStep },
      { ...shared, depth: depth + 1 },
    );
    open.delete(key);
    known.set(place, analysis);
    return { id, name, analysis };
  };

/** Far below what a run can compute between two steps: see `run-state.ts`. */
const FEW_STEPS = MAX_STEPS_IN_PLACE / 2;
const LITTLE_WORK = 1_000_000;
/** The work of a computed step, without its expression. */
const WORK_PER_STEP = 20;

/** A run fails when it computes too much between two steps. If everything together is little, it cannot. */
function isCrowded({ nodes, bodies }: Layout, { examined, executions }: Flow): boolean {
  let steps: number | null = nodes.length;
  let work: number | null = 0;
  for (const [at, node] of nodes.entries()) {
    const found = examined[at];
    if (found === undefined || steps === null || work === null) continue;
    // An unknown expression can take any amount of work.
    if ((repeats(node) || node.kind === 'condition') && found.fails === 'maybe') return true;
    const again = times(executions[at]!, found.rounds);
    steps = plus(exactly(steps), times(again, exactly(1 + bodies[at]!.length))).max;
    work = plus(exactly(work), times(plus(executions[at]!, again), exactly(found.work))).max;
  }
  if (steps === null || work === null) return true;
  return steps > FEW_STEPS || work + WORK_PER_STEP * steps > LITTLE_WORK;
}

function summary(
  { graph, capMicros, oneStep = false }: ExaminedGraph,
  layout: Layout,
  { examined, executions }: Flow,
  { request: { customTools } }: Shared,
): DryRunAnalysis {
  const nodes = layout.nodes.map((node, at) => {
    const found = examined[at];
    const count = executions[at]!;
    return { node, found, count, cost: costOf(found, count), duration: durationOf(found, count) };
  });
  const byId = new Map(nodes.map((each) => [each.node.id, each]));
  const reached = nodes.flatMap(({ found, node }) =>
    found === undefined ? [] : [{ node, found }],
  );
  const children = reached.flatMap(({ found }) => found.children);
  const analyses = children.map(({ analysis }) => analysis);
  return {
    cost: capped(
      total(nodes.map(({ cost }) => cost)),
      { cap: capMicros, oneStep },
      reached.map(({ found }) => found.cost),
    ),
    duration: {
      min: leastMs(layout, examined, executions),
      max: total(nodes.map(({ duration }) => duration)).max,
    },
    unbounded: nodes
      .filter(({ cost, duration }) => cost.max === null || duration.max === null)
      .map(({ node }) => node.id),
    nodes: graph.nodes.map(({ id }) => {
      const { found, count: executions, cost } = byId.get(id)!;
      return { node_id: id, verdicts: found?.verdicts ?? [], executions, cost };
    }),
    gates: reached.flatMap(({ node, found }) => [...gateOf(node), ...gatesBelow(node, found)]),
    hosts: distinct([
      ...reached.flatMap(({ node }) => hostsOf(node, customTools)),
      ...analyses.flatMap(({ hosts }) => hosts),
    ]),
    secrets: distinct([
      ...reached.flatMap(({ node }) => secretsOf(node, customTools)),
      ...analyses.flatMap(({ secrets }) => secrets),
    ]),
    connections: reached.flatMap(({ node, found }) => [
      ...connectionsOf(node, customTools).map((name) => ({
        ...{ node_id: node.id, name, asApprover: usesApprover(node) },
      })),
      ...connectionsBelow(node, found),
    ]),
    workflows: distinct(children.flatMap(({ id, analysis }) => [id, ...analysis.workflows])),
  };
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** The gates of the runs that a node starts. */
const gatesBelow = ({ id: node_id }: GraphNode, { children }: Examined): ReachableGate[] =>
  children.flatMap(({ id, name, analysis }) =>
    analysis.gates.map(({ workflow = { id, name }, settings }) => ({
      node_id,
      workflow,
      settings,
    })),
  );

/** The connections of the runs that a node starts. */
const connectionsBelow = ({ id: node_id }: GraphNode, { children }: Examined): UsedConnection[] =>
  children.flatMap(({ id, name, analysis }) =>
    analysis.connections.map(({ workflow = { id, name }, ...used }) => ({
      ...used,
      ...{ node_id, workflow },
    })),
  );

const costOf = (found: Examined | undefined, count: Bounds): Bounds =>
  found === undefined ? ZERO : times(count, found.cost);

const durationOf = (found: Examined | undefined, count: Bounds): Bounds =>
  found === undefined ? ZERO : times(count, upTo(found.duration.max));

/** Nothing exceeds a cap that is a hard limit; with an overrun, the excess is less than one step. */
function capped(
  { min, max }: Bounds,
  { cap, oneStep }: { cap: number | null; oneStep: boolean },
  steps: readonly Bounds[],
): Bounds {
  if (cap === null || (max !== null && max <= cap)) return { min, max };
  const sizes = steps.map((step) => step.max);
  const dearest = sizes.includes(null) ? null : Math.max(0, ...(sizes as number[]));
  // The run stops before the first step that does not fit.
  const least = oneStep ? cap : Math.max(0, cap - (dearest ?? cap));
  if (max === null || dearest === null) return { min: Math.min(min, least), max };
  return { min: Math.min(min, least), max: Math.min(max, oneStep ? cap + dearest : cap) };
}

/**
 * The longest path through everything that is sure to run, in ms. Iterations of a loop are sequential; items of a map
 * may be concurrent.
 */
function leastMs(
  layout: Layout,
  examined: Flow['examined'],
  executions: Flow['executions'],
): number {
  const { nodes, into, regions, order } = layout;
  const ends = nodes.map(() => 0);
  const bodies = nodes.map(() => 0);
  const finish = (at: number): void => {
    const region = regions[at]!;
    if (region !== -1) bodies[region] = Math.max(bodies[region]!, ends[at]!);
  };
  for (const { node: at, ends: isEnd } of order) {
    const found = examined[at];
    if (isEnd) {
      const rounds = executions[at]!.min === 0 ? 0 : (found?.rounds.min ?? 0);
      ends[at]! += bodies[at]! * (nodes[at]!.kind === 'loop' ? rounds : Math.min(1, rounds));
      finish(at);
      continue;
    }
    const before = into[at]!.filter(({ from }) => from !== regions[at]).map(
      ({ from }) => ends[from]!,
    );
    const own = executions[at]!.min === 0 ? 0 : (found?.duration.min ?? 0);
    ends[at] = Math.max(0, ...before) + own;
    if (!repeats(nodes[at]!)) finish(at);
  }
  return Math.floor(Math.max(0, ...ends));
}
