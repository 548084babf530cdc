import type { GraphNode } from '../../shared/contract/graph.ts';
import { outputKey, type CompiledGraph } from '../../shared/graph/compile.ts';
import type { CaughtError } from '../../shared/graph/caught-error.ts';
import { evaluateExpression, truthy } from '../../shared/graph/expression/expression.ts';
import type { Json, JsonObject } from '../../shared/json.ts';

/** The result of a run: every step with its status, and the final state. */
export interface ModelRun {
  steps: Map<string, string>;
  state: JsonObject;
  output: JsonObject;
  /** Maps with failed items, as node and iteration: which other steps of those items run depends on the order. */
  partial: { map: number; iteration: number[] }[];
}

export interface World {
  work: (stepKey: string) => Json;
  /** The final error of a step with error edges; undefined when it succeeds. */
  fails: (stepKey: string) => CaughtError | undefined;
  approve: (stepKey: string) => { approved: boolean; input?: JsonObject };
}

/**
 * The semantics of a graph in the simplest form: one node after the other in topological order, a loop's iterations in
 * its place, later writes over earlier ones. No events, no queue, nothing incremental.
 */
export function modelRun(graph: CompiledGraph, input: JsonObject, world: World): ModelRun {
  const run: ModelRun = { steps: new Map(), state: { ...input }, output: {}, partial: [] };
  runRegion(graph, run, world, -1, []);
  graph.nodes.forEach((node, at) => {
    const last = graph.edges.every(
      (edge) =>
        edge.from !== at ||
        edge.when === 'error' ||
        edge.to === at ||
        graph.regions[edge.to] === at,
    );
    const ran = [...run.steps].some(
      ([key, status]) => key.split('#')[0] === node.id && status === 'success',
    );
    if (!last || !ran || isInMap(graph, at)) return;
    run.output[outputKey(node)] = run.state[outputKey(node)]!;
  });
  return run;
}

const isInMap = ({ nodes, regions }: CompiledGraph, at: number): boolean => {
  const around = regions[at]!;
  return (
    around !== -1 &&
    (nodes[around]!.kind === 'map' || isInMap({ nodes, regions } as CompiledGraph, around))
  );
};

interface Done {
  output: Json;
  answer: boolean | undefined;
  failed?: true;
}

/** Ends an item of a map: a node in it has failed. */
class ItemFailure extends Error {
  readonly caught: CaughtError;
  constructor(caught: CaughtError) {
    super(caught.message);
    this.caught = caught;
  }
}

/** Runs the direct nodes of a region once. Returns what the nodes gave that led back to its loop or map, by node id. */
function runRegion(
  graph: CompiledGraph,
  run: ModelRun,
  world: World,
  region: number,
  iteration: number[],
): JsonObject {
  const done = new Map<number, Done>();
  if (region !== -1) {
    done.set(region, { output: run.state[graph.nodes[region]!.id]!, answer: true });
  }
  const isTaken = (edge: CompiledGraph['edges'][number]): boolean => {
    const source = done.get(edge.from);
    if (source === undefined || (edge.when === 'error') !== (source.failed === true)) return false;
    return (
      source.failed === true ||
      edge.when === undefined ||
      source.answer === undefined ||
      String(source.answer) === edge.when
    );
  };
  graph.nodes.forEach((_, at) => {
    if (graph.regions[at] !== region) return;
    const edges = graph.edges.filter((edge) => edge.to === at && !edge.back);
    if (edges.length > 0 && !edges.some(isTaken)) {
      skip(graph, run, at, iteration);
      return;
    }
    const given = edges
      .filter(isTaken)
      .map((edge) => [graph.nodes[edge.from]!.id, done.get(edge.from)!.output]);
    done.set(
      at,
      runNode(graph, run, world, at, iteration, Object.fromEntries(given) as JsonObject),
    );
  });
  const back = graph.edges.filter((edge) => edge.back && edge.to === region && isTaken(edge));
  return Object.fromEntries(
    back.map(({ from }) => [graph.nodes[from]!.id, done.get(from)?.output ?? null]),
  );
}

function keyOf(node: GraphNode, iteration: number[]): string {
  return iteration.length === 0 ? node.id : `${node.id}#${iteration.join('.')}`;
}

function skip(graph: CompiledGraph, run: ModelRun, at: number, iteration: number[]): void {
  run.steps.set(keyOf(graph.nodes[at]!, iteration), 'skipped');
  graph.regions.forEach((loop, inner) => {
    if (loop === at) skip(graph, run, inner, iteration);
  });
}

function runNode(
  graph: CompiledGraph,
  run: ModelRun,
  world: World,
  at: number,
  iteration: number[],
  given: JsonObject,
): Done {
  const node = graph.nodes[at]!;
  const key = keyOf(node, iteration);
  run.steps.set(key, 'success');
  const finish = (output: Json, answer?: boolean): Done => {
    run.state[outputKey(node)] = output;
    return { output, answer };
  };
  const fail = (error: CaughtError): Done => {
    run.steps.set(key, 'failed');
    if (!graph.edges.some((edge) => edge.from === at && edge.when === 'error')) {
      throw new ItemFailure(error);
    }
    run.state[node.id] = { error };
    return { output: { error }, answer: undefined, failed: true };
  };
  const error = world.fails(key);
  if (error !== undefined) return fail(error);
  switch (node.kind) {
    case 'agent':
    case 'tool':
      return finish(world.work(key));
    case 'merge':
      return finish(given);
    case 'condition': {
      const result = truthy(evaluateExpression(node.expression, run.state));
      return finish({ result }, result);
    }
    case 'human_gate': {
      const { approved, input } = world.approve(key);
      Object.assign(run.state, input);
      return finish({ approved }, approved);
    }
    case 'loop': {
      let iterations = 0;
      let again = true;
      let exhausted = false;
      finish({ iterations, exhausted });
      while (again && truthy(evaluateExpression(node.expression, run.state))) {
        exhausted = iterations >= node.max_iterations;
        if (exhausted) break;
        iterations += 1;
        finish({ iterations, exhausted });
        again =
          Object.keys(runRegion(graph, run, world, at, [...iteration, iterations])).length > 0;
      }
      return finish({ iterations, exhausted }, false);
    }
    case 'map': {
      const items = evaluateExpression(node.items, run.state) as Json[];
      const outputs = items.map((item, index) =>
        runItem(graph, run, world, at, [...iteration, index + 1], { item, index }),
      );
      const failed = outputs.findIndex((output) => output instanceof ItemFailure);
      if (failed === -1) return finish(outputs as Json[], false);
      run.partial.push({ map: at, iteration });
      if (node.on_item_error === 'collect') {
        return finish(
          outputs.map((output) =>
            output instanceof ItemFailure ? { error: output.caught } : output,
          ),
          false,
        );
      }
      const { message } = outputs[failed] as ItemFailure;
      return fail({ message: `Item ${failed + 1} failed: ${message}`, kind: 'child', attempts: 1 });
    }
  }
}

/** Runs one item of a map over its own layer of the state. */
function runItem(
  graph: CompiledGraph,
  run: ModelRun,
  world: World,
  map: number,
  iteration: number[],
  own: { item: Json; index: number },
): Json | ItemFailure {
  const layer = { ...run, state: { ...run.state, [graph.nodes[map]!.id]: own } };
  try {
    const given = runRegion(graph, layer, world, map, iteration);
    const last = new Set(
      graph.edges.filter(({ back, to }) => back && to === map).map((e) => e.from),
    );
    return last.size === 1 ? (Object.values(given)[0] ?? null) : given;
  } catch (error) {
    if (error instanceof ItemFailure) return error;
    throw error;
  }
}
