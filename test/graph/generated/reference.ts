import type { GateNode, Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { leadsBack, planOf, type Plan } from './plan.ts';
import { valueOf, ValueError } from './values.ts';
import { failedRounds, gateError, workError, type World } from './world.ts';

export interface ReferenceStep {
  kind: GraphNode['kind'];
  status: 'success' | 'failed' | 'skipped';
  /** Whether it is there, with this status, in every order. */
  certain: boolean;
  /** Its rounds of attempts or questions: every failure of the run repeats a step. */
  rounds: number;
}

type Steps = Map<string, ReferenceStep>;

/** The result of a run in any order of its steps. */
export interface ReferenceRun {
  steps: Steps;
  /** Of each group, at least one step has failed. */
  oneFailed: string[][];
  /** An object with the key EITHER stands where the order decides between errors. */
  state: JsonObject;
  output: JsonObject;
  /** Whether the run failed, and was not resumed. */
  failed: boolean;
  /** Whether the order decided between errors anywhere, also where a later write has replaced them. */
  ambiguous: boolean;
}

export const EITHER = '$either';

/** A failed step that ends the item around it, or the run, with one of these errors. */
interface Failure {
  stepKey: string;
  errors: CaughtError[];
}

/** How a node ended. `stuck`: because of failures; what waits for it never begins. `caught`: it takes its error edges. */
type End =
  | { how: 'skipped' }
  | { how: 'stuck'; failures: Failure[] }
  | { how: 'caught'; output: Json }
  | { how: 'done'; output: Json; answer: boolean | undefined };

/** Where nodes run: the run itself or one item of a map, in an iteration of the loops and maps around. */
interface Scope {
  state: JsonObject;
  iteration: number[];
  /** A map around catches what fails here. */
  caught: boolean;
  steps: Steps;
  oneFailed: string[][];
}

interface Reference {
  plan: Plan;
  world: World;
  resumed: boolean;
  /** Becomes true where the order decides between errors. */
  ambiguous: boolean;
}

type NodeOf<Kind> = Extract<GraphNode, { kind: Kind }>;

/**
 * The meaning of a graph in its simplest form, as docs/graphs.md describes it: one node after the other, the iterations
 * of a loop and the items of a map in its place, later writes over earlier ones. Nothing is parallel and nothing is
 * interrupted: since resumes repeat a failed step until it succeeds, it succeeds here at once. With `resumed` false, the
 * run ends with its first failures instead.
 */
export function referenceRun(
  graph: Graph,
  input: JsonObject,
  world: World,
  resumed = true,
): ReferenceRun {
  const reference: Reference = { plan: planOf(graph), world, resumed, ambiguous: false };
  const run = newScope({ ...input }, [], false);
  const { failures } = runBody(reference, undefined, run);
  const whole = newScope(run.state, [], false);
  keep(run, whole, failures);
  const { state, steps, oneFailed } = whole;
  const output = outputsOf(reference.plan, steps, state);
  const { ambiguous } = reference;
  return { steps, oneFailed, state, output, failed: failures.length > 0, ambiguous };
}

const newScope = (state: JsonObject, iteration: number[], caught: boolean): Scope => ({
  ...{ state, iteration, caught, steps: new Map(), oneFailed: [] },
});

/**
 * Keeps the steps of an item, or of the run. If it was stopped, each of them can be missing, but one has failed. Without
 * `certain`, the order decides whether it began.
 */
function keep(part: Scope, whole: Scope, failures: Failure[], certain = true): void {
  const sure = certain && failures.length === 0;
  for (const [key, step] of part.steps) {
    whole.steps.set(key, { ...step, certain: sure && step.certain });
  }
  if (sure) whole.oneFailed.push(...part.oneFailed);
  if (certain && failures.length > 0) whole.oneFailed.push(failures.map((f) => f.stepKey));
}

interface Body {
  /** What the nodes gave that led back to the loop or map, by node. */
  given: JsonObject;
  failures: Failure[];
}

/** Runs the nodes of a body once, or without `head` those outside of all bodies. */
function runBody(reference: Reference, head: string | undefined, scope: Scope): Body {
  const { plan } = reference;
  const ends = new Map<string, End>();
  if (head !== undefined) {
    ends.set(head, { how: 'done', output: scope.state[head]!, answer: true });
  }
  for (const id of plan.order) {
    if (plan.body.get(id) !== head) continue;
    const node = plan.nodes.get(id)!;
    const edges = into(plan, id).filter((edge) => !leadsBack(plan.body, edge));
    const taken = edges.filter((edge) => isTaken(edge, ends.get(edge.source)!));
    if (edges.some(({ source }) => ends.get(source)!.how === 'stuck')) {
      ends.set(id, { how: 'stuck', failures: [] });
    } else if (edges.length > 0 && taken.length === 0) {
      skip(reference, node, scope);
      ends.set(id, { how: 'skipped' });
    } else {
      ends.set(id, runNode(reference, node, scope, given(taken, ends)));
    }
  }
  const back = head === undefined ? [] : into(plan, head).filter((e) => leadsBack(plan.body, e));
  return {
    given: given(
      back.filter((edge) => isTaken(edge, ends.get(edge.source)!)),
      ends,
    ),
    failures: [...ends.values()].flatMap((end) => (end.how === 'stuck' ? end.failures : [])),
  };
}

type Edge = Graph['edges'][number];

const into = ({ graph }: Plan, id: string): Edge[] =>
  graph.edges.filter((edge) => edge.target === id);

const hasEdge = ({ graph }: Plan, id: string, when: 'false' | 'error'): boolean =>
  graph.edges.some((edge) => edge.source === id && edge.condition_value === when);

function isTaken({ condition_value: when }: Edge, end: End): boolean {
  if (end.how === 'caught') return when === 'error';
  if (end.how !== 'done' || when === 'error') return false;
  return when === undefined || end.answer === undefined || when === String(end.answer);
}

/** The outputs of the sources of edges. */
function given(edges: Edge[], ends: Map<string, End>): JsonObject {
  const output = (end: End | undefined): Json =>
    end !== undefined && 'output' in end ? end.output : null;
  return Object.fromEntries(edges.map(({ source }) => [source, output(ends.get(source))]));
}

const keyOf = ({ id }: GraphNode, { iteration }: Scope): string =>
  iteration.length === 0 ? id : `${id}#${iteration.join('.')}`;

const stateKey = (node: GraphNode): string =>
  ('output_key' in node ? node.output_key : undefined) ?? node.id;

function note(node: GraphNode, scope: Scope, status: ReferenceStep['status'], rounds = 1): void {
  scope.steps.set(keyOf(node, scope), { kind: node.kind, status, certain: true, rounds });
}

/** A skipped loop or map is skipped with its body. */
function skip(reference: Reference, node: GraphNode, scope: Scope): void {
  note(node, scope, 'skipped', 0);
  const { body, nodes } = reference.plan;
  for (const [id, head] of body) if (head === node.id) skip(reference, nodes.get(id)!, scope);
}

function done(
  node: GraphNode,
  scope: Scope,
  output: Json,
  { answer, rounds = 1 }: { answer?: boolean; rounds?: number } = {},
): End {
  note(node, scope, 'success', rounds);
  scope.state[stateKey(node)] = output;
  return { how: 'done', output, answer };
}

/** The node has failed permanently, with one of the errors. */
function fail(reference: Reference, node: GraphNode, scope: Scope, errors: CaughtError[]): End {
  note(node, scope, 'failed');
  if (!hasEdge(reference.plan, node.id, 'error')) {
    return { how: 'stuck', failures: [{ stepKey: keyOf(node, scope), errors }] };
  }
  const output = { error: either(reference, errors) };
  scope.state[node.id] = output;
  return { how: 'caught', output };
}

function either(reference: Reference, errors: CaughtError[]): Json {
  if (errors.length === 1) return errors[0]!;
  reference.ambiguous = true;
  return { [EITHER]: errors };
}

/** Whether a failure of the node is final, and no resume repeats it. */
const isFinal = ({ plan, resumed }: Reference, { id }: GraphNode, { caught }: Scope): boolean =>
  caught || !resumed || hasEdge(plan, id, 'error');

function runNode(reference: Reference, node: GraphNode, scope: Scope, inputs: JsonObject): End {
  const { world } = reference;
  const key = keyOf(node, scope);
  switch (node.kind) {
    case 'agent':
    case 'tool':
    case 'code':
    case 'workflow': {
      const rounds = failedRounds(world, node, key, scope.state);
      if (rounds > 0 && isFinal(reference, node, scope)) {
        return fail(reference, node, scope, [workError(node)]);
      }
      const output = world.result(node, key, scope.state);
      return done(node, scope, output, { rounds: rounds + 1 });
    }
    case 'wait': {
      const rounds = failedRounds(world, node, key, scope.state);
      if (rounds > 0 && isFinal(reference, node, scope)) {
        return fail(reference, node, scope, [workError(node)]);
      }
      const output = world.result(node, key, scope.state);
      return done(node, scope, output, { answer: output !== null });
    }
    case 'merge':
      return done(node, scope, inputs);
    case 'condition':
      try {
        const result = valueOf(node.expression, scope.state) === true;
        return done(node, scope, { result }, { answer: result });
      } catch (error) {
        if (error instanceof ValueError) return fail(reference, node, scope, [workError(node)]);
        throw error;
      }
    case 'human_gate':
      return runGate(reference, node, scope);
    case 'loop':
      return runLoop(reference, node, scope);
    case 'map':
      return runMap(reference, node, scope);
    default:
      return node satisfies never;
  }
}

function runGate(reference: Reference, node: GateNode, scope: Scope): End {
  const { plan, world } = reference;
  for (let round = 1; ; round += 1) {
    const end = world.gate(node, keyOf(node, scope), round);
    if ('failed' in end || (!end.approved && !hasEdge(plan, node.id, 'false'))) {
      if (!isFinal(reference, node, scope)) continue;
      return fail(reference, node, scope, [gateError(node, end)]);
    }
    const { approved, input } = end;
    Object.assign(scope.state, input);
    return done(node, scope, { approved }, { answer: approved, rounds: round });
  }
}

function runLoop(reference: Reference, node: NodeOf<'loop'>, scope: Scope): End {
  for (let iterations = 0; ; iterations += 1) {
    scope.state[node.id] = { iterations, exhausted: false };
    const more = valueOf(node.expression, scope.state) === true;
    if (!more || iterations === node.max_iterations) {
      return done(node, scope, { iterations, exhausted: more }, { answer: false });
    }
    const iteration = iterations + 1;
    scope.state[node.id] = { iterations: iteration, exhausted: false };
    const inner = { ...scope, iteration: [...scope.iteration, iteration] };
    const body = runBody(reference, node.id, inner);
    if (body.failures.length > 0) {
      note(node, scope, 'failed');
      return { how: 'stuck', failures: body.failures };
    }
    if (Object.keys(body.given).length === 0) {
      const output = { iterations: iteration, exhausted: false };
      return done(node, scope, output, { answer: false });
    }
  }
}

function runMap(reference: Reference, node: NodeOf<'map'>, scope: Scope): End {
  const { plan } = reference;
  const items = valueOf(node.items, scope.state);
  if (!Array.isArray(items)) return fail(reference, node, scope, [workError(node)]);
  const collects = node.on_item_error === 'collect';
  const caught = collects || scope.caught || hasEdge(plan, node.id, 'error');
  const all: Failure[] = [];
  let first: { index: number; failures: Failure[] } | undefined;
  const outputs = items.map((item, index): Json => {
    // One after the other: no item begins after the failed one.
    if (first !== undefined && !collects && node.concurrency === 1) return null;
    const state = { ...scope.state, [node.id]: { item, index } };
    const inner = newScope(state, [...scope.iteration, index + 1], caught);
    const { given, failures } = runBody(reference, node.id, inner);
    const fails = failures.length > 0;
    all.push(...failures);
    // After the first failure, the order decides which items begin.
    keep(inner, scope, failures, collects || (caught && first === undefined));
    if (fails) {
      first ??= { index, failures };
      const errors = failures.flatMap((failure) => failure.errors);
      return { error: either(reference, errors) };
    }
    return endsOf(plan, node).size === 1 ? (Object.values(given)[0] ?? null) : given;
  });
  if (first === undefined || collects) return done(node, scope, outputs, { answer: false });
  if (!caught) return { how: 'stuck', failures: all };
  const before = `Item ${first.index + 1} failed: `;
  const errors = first.failures.flatMap((failure) => failure.errors);
  return fail(
    reference,
    node,
    scope,
    errors.map(({ message }) => ({ message: before + message, kind: 'child', attempts: 1 })),
  );
}

/** The nodes that lead back to a map. */
const endsOf = (plan: Plan, { id }: GraphNode): Set<string> =>
  new Set(
    into(plan, id)
      .filter((edge) => leadsBack(plan.body, edge))
      .map((e) => e.source),
  );

/** The outputs of the last nodes that have run. */
function outputsOf({ graph, nodes, body }: Plan, steps: Steps, state: JsonObject): JsonObject {
  const inMap = (id: string): boolean => {
    const head = body.get(id);
    return head !== undefined && (nodes.get(head)!.kind === 'map' || inMap(head));
  };
  const hasRun = (id: string): boolean =>
    [...steps].some(([key, { status }]) => key.split('#')[0] === id && status === 'success');
  const follows = (id: string): boolean =>
    graph.edges.some(
      ({ source, target, condition_value: when }) =>
        source === id && target !== id && when !== 'error' && body.get(target) !== id,
    );
  const last = graph.nodes.filter(({ id }) => !follows(id) && !inMap(id) && hasRun(id));
  return Object.fromEntries(last.map((node) => [stateKey(node), state[stateKey(node)]!]));
}
