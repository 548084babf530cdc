import {
  type EdgeCondition,
  graphSchema,
  type Graph,
  type GraphInput,
} from '#shared/contract/workflows/graph.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import {
  createScheduler,
  type Scheduler,
  type SchedulerSnapshot,
} from '#shared/graph/schedule/scheduler.ts';
import type { Json, JsonObject } from '#shared/json.ts';

type NodeInput = NonNullable<GraphInput['nodes']>[number];
type Extra = Record<string, Json>;

/**
 * A graph from a drawing: `a -> b`, `c -true-> d`, `a -error-> f`, one edge a line, several arrows in a row allowed. The first letter
 * of an id is the kind: c condition, l loop, p map, g gate, m merge, t tool, all others agents. `extra` overrides.
 */
export function draw(text: string, extra: Record<string, Extra> = {}): Graph {
  const { ids, edges } = readDrawing(text);
  return graphSchema.parse({ nodes: ids.map((id) => ({ ...nodeOf(id), ...extra[id] })), edges });
}

/** The ids and edges of a drawing, in the order in which they first appear. */
export function readDrawing(text: string) {
  const ids = new Set<string>();
  const edges: NonNullable<GraphInput['edges']> = [];
  for (const line of text.split('\n')) {
    let source: string | undefined;
    let arrow: string | undefined;
    for (const part of line.split(/\s+/).filter((each) => each !== '')) {
      if (part.startsWith('-')) {
        arrow = part;
        continue;
      }
      ids.add(part);
      if (source !== undefined && arrow !== undefined) {
        const when = /^-(true|false|error)->$/.exec(arrow)?.[1] as EdgeCondition | undefined;
        edges.push({ source, target: part, ...(when && { condition_value: when }) });
      }
      source = part;
    }
  }
  return { ids: [...ids], edges };
}

function nodeOf(id: string): NodeInput {
  switch (id[0]) {
    case 'c':
      return { id, kind: 'condition', expression: 'true' };
    case 'l':
      return { id, kind: 'loop', expression: 'true' };
    case 'p':
      return { id, kind: 'map', items: 'items' };
    case 'g':
      return { id, kind: 'human_gate', prompt: 'Go on?' };
    case 'm':
      return { id, kind: 'merge' };
    case 't':
      return { id, kind: 'tool', tool_name: 'http_request', params: { url: 'https://tool.test/' } };
    default:
      return { id, kind: 'agent' };
  }
}

export function start(graph: Graph, input: JsonObject = {}): Scheduler {
  return createScheduler(compileGraph(graph), input);
}

export function ready(scheduler: Scheduler): string[] {
  return scheduler.takeReady().map((node) => node.step_key);
}

/** The ids of failed nodes, in topological order, first those outside of maps. */
export function failedNodes(scheduler: Scheduler, graph: Graph): string[] {
  const { nodes, regions } = compileGraph(graph);
  const within = (at: number, map: number): boolean => {
    const region = regions[at]!;
    return (
      region === map || (region !== -1 && nodes[region]!.kind !== 'map' && within(region, map))
    );
  };
  const failedIn = ({ nodes: phases, maps = [] }: Scope, places: number[]): string[] => [
    ...phases.flatMap(([phase], at) => (phase === 'failed' ? [nodes[places[at]!]!.id] : [])),
    ...maps.flatMap(({ node, active }) => {
      const inner = nodes.map((_, at) => at).filter((at) => within(at, node));
      return active.flatMap((item) => failedIn(item, inner));
    }),
  ];
  return failedIn(
    scheduler.snapshot(),
    nodes.map((_, at) => at),
  );
}

type Scope = Pick<SchedulerSnapshot, 'nodes' | 'maps'>;

/** Control steps as `key status`, with the output if there is one. */
export function control(scheduler: Scheduler): string[] {
  return scheduler
    .takeControlSteps()
    .map(
      ({ step_key, status, output }) =>
        `${step_key} ${status}${output === undefined ? '' : ` ${JSON.stringify(output)}`}`,
    );
}

/** Runs to the end. Returns the ready steps in order, wave by wave. */
export function finish(
  scheduler: Scheduler,
  output: (stepKey: string) => Json = (key) => `did ${key}`,
): string[][] {
  const waves: string[][] = [];
  for (let wave = scheduler.takeReady(); wave.length > 0; wave = scheduler.takeReady()) {
    waves.push(wave.map((node) => node.step_key));
    for (const { step_key, kind } of wave) {
      if (kind === 'human_gate') scheduler.decide(step_key, { approved: true });
      else scheduler.complete(step_key, output(step_key));
    }
  }
  return waves;
}

/** What the run of a scheduler has written so far: the outputs of the last nodes, and the state as its record has it. */
export function resultOf(scheduler: Scheduler): { output: JsonObject; state: JsonObject } {
  const { state: text, outputs = {} } = scheduler.endState();
  const state = JSON.parse(text) as JsonObject;
  for (const key of Object.keys(outputs)) {
    if (state[key] !== null) throw new Error(`the output at '${key}' is sent as well`);
    state[key] = scheduler.state()[key]!;
  }
  return { output: scheduler.output(), state };
}
