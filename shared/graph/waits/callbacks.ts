import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import { nodeTexts } from '#shared/graph/node-texts.ts';
import type { JsonObject } from '#shared/json.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';

/**
 * The waits for a callback of a graph. `{callbacks.<id>}` is the address of one. A graph without any reads the
 * key `callbacks` of the state instead, like any other.
 */

/** How many loops and maps are around each wait for a callback, by the id of its node. */
export type Callbacks = ReadonlyMap<string, number>;

export const NO_CALLBACKS: Callbacks = new Map();

interface GraphRegions {
  nodes: readonly GraphNode[];
  /** Per node: the position of the innermost loop or map around it, or -1. */
  regions: readonly number[];
}

const known = new WeakMap<object, Callbacks>();

export function callbacksOf(graph: GraphRegions): Callbacks {
  const found = known.get(graph) ?? findCallbacks(graph);
  known.set(graph, found);
  return found;
}

function findCallbacks({ nodes, regions }: GraphRegions): Callbacks {
  const depthOf = (at: number): number => {
    let depth = 0;
    for (let head = regions[at]!; head !== -1; head = regions[head]!) depth += 1;
    return depth;
  };
  return new Map(
    nodes.flatMap((node, at) => (awaitsCallback(node) ? [[node.id, depthOf(at)]] : [])),
  );
}

/** The references to the addresses, by id, in the place of the addresses. */
export const referencesTo = (callbacks: Callbacks): JsonObject =>
  Object.fromEntries([...callbacks.keys()].map((id) => [id, `{${CALLBACKS}.${id}}`]));

export const awaitsCallback = (node: GraphNode): boolean =>
  node.kind === 'wait' && node.callback === true;

/** The callback whose address a node of the graph sends; undefined if there is none. */
export function callbackSentBy(
  node: GraphNode,
  { nodes }: Pick<Graph, 'nodes'>,
): string | undefined {
  if (!nodes.some(awaitsCallback)) return undefined;
  for (const { callbacks, text } of nodeTexts(node)) {
    if (callbacks !== true) continue;
    const [first] = callbacksIn(text);
    if (first !== undefined) return first;
  }
  return undefined;
}

/** The ids in the references to callbacks of a template. */
const callbacksIn = (template: string): string[] =>
  parseTemplate(template).parts.flatMap((part) =>
    typeof part === 'object' && part.path[0] === CALLBACKS ? [String(part.path[1] ?? '')] : [],
  );
