import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { CompiledGraph } from '#shared/graph/compile.ts';
import { iterationIn, nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import { hash } from './world.ts';

/** The iteration of a step, and the node with the items of the maps that the step is in. */
export function placeIn(
  graph: CompiledGraph,
  stepKey: string,
): { iteration: number[]; item: string } {
  const id = nodeIdOf(stepKey);
  const iteration = iterationIn(stepKey);
  const { nodes, regions } = graph;
  const maps: boolean[] = [];
  let head = regions[nodes.findIndex((node) => node.id === id)]!;
  for (; head !== -1; head = regions[head]!) maps.unshift(nodes[head]!.kind === 'map');
  const item = [id, ...iteration.filter((_, depth) => maps[depth])].join(' ');
  return { iteration, item };
}

export const isEffect = (node: GraphNode): boolean =>
  node.kind === 'agent' ||
  node.kind === 'workflow' ||
  (node.kind === 'tool' && node.tool_name !== 'json_transform');

/** The graph with prompts and bodies of requests that read the state: what the input, nodes and gates write. */
export function withReads(graph: Graph, salt: number): Graph {
  const ids = graph.nodes.map(({ id }) => id);
  const nodes = graph.nodes.map((node): GraphNode => {
    const pick = (about: string, among: readonly string[]) =>
      among[hash(`${salt} ${about} ${node.id}`) % among.length]!;
    const isRequest = node.kind === 'tool' && node.params['method'] === 'POST';
    if (isRequest) {
      const body = { list: '{list}', shared: '{shared}', first: `{${pick('first', ids)}}` };
      return { ...node, params: { ...node.params, body } };
    }
    if (node.kind !== 'agent') return node;
    const prompt = `{${pick('first', [...ids, 'yes', 'list', 'shared'])}} and {list}`;
    const system_prompt = `{${pick('second', ['yes', 'list', 'shared', ...ids.slice(0, 3)])}}`;
    return { ...node, prompt, ...(hash(`${salt} ${node.id}`) % 2 === 0 ? { system_prompt } : {}) };
  });
  return { ...graph, nodes };
}
