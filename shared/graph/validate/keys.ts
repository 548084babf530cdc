import { isBranching, isWaiting, repeats } from '#shared/graph/kinds.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { createBitRows, type BitRows } from '#shared/graph/schedule/bit-rows.ts';
import { outputKey } from '#shared/graph/compile.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { suggest } from '#shared/graph/suggest.ts';
import type { LinkedEdge, Links } from '#shared/graph/topology.ts';
import type { Structure } from './structure.ts';
import type { KeyRead } from './texts.ts';

/** The maximum number of suggestions, since a graph can read a hundred thousand keys. */
const MAX_SUGGESTIONS = 50;
const MAX_SUGGESTED_LENGTH = 40;

/** Warns about keys that are read where no node can have set them, and about parallel nodes that set the same key. */
export function checkKeys(
  issues: Issues,
  graph: Graph,
  links: Links,
  structure: Structure,
  reads: readonly KeyRead[],
  inputKeys: readonly string[] | undefined,
): void {
  // Duplicate ids are reported as an error elsewhere.
  if (links.positions.size !== graph.nodes.length) return;
  const writers = writersOf(graph, links, structure);
  checkReads(issues, graph, links, structure, { reads, inputKeys, writers });
  checkParallelWrites(issues, graph, links, structure, writers);
}

/** The nodes that set each key, in the order of the graph. */
export function writersOf(graph: Graph, links: Links, { order }: Structure): Map<string, number[]> {
  const writers = new Map<string, number[]>();
  for (const node of order) {
    const { id, kind } = graph.nodes[node]!;
    // Errors and the items of a map are stored under the id.
    const own = kind === 'map' || links.out[node]!.some((edge) => edge.when === 'error');
    for (const key of new Set([outputKey(graph.nodes[node]!), ...(own ? [id] : [])])) {
      writers.set(key, [...(writers.get(key) ?? []), node]);
    }
  }
  return writers;
}

/**
 * Per node: the keys that can be set before it runs. A loop and its body can read keys that the body set in an earlier
 * iteration. The last bit means "any key", since the approver of a gate can set any.
 */
export function keysBefore(
  graph: Graph,
  links: Links,
  { order, loops }: Structure,
  bits: Map<string, number>,
): BitRows {
  const size = graph.nodes.length;
  const anyKey = bits.size;
  const before = createBitRows(size, bits.size + 1);
  const set = (row: number, node: number): void => {
    before.add(row, bits.get(outputKey(graph.nodes[node]!))!);
    if (isWaiting(graph.nodes[node]!)) before.add(row, anyKey);
  };
  // Behind an error edge, only the error is set; in the body of a map, the item.
  const setId = (row: number, node: number): void =>
    before.add(row, bits.get(graph.nodes[node]!.id)!);
  for (const { loop, nodes } of loops.bodies) {
    // Each item of a map has its own layer on top of the state.
    if (graph.nodes[loop]!.kind === 'map') continue;
    set(loop, loop);
    for (const node of nodes) {
      set(loop, node);
      for (const edge of links.out[node]!) if (edge.when === 'error') setId(loop, node);
    }
  }
  for (const node of order) {
    for (const edge of links.in[node]!) {
      if (loops.back.has(edge)) continue;
      before.unite(node, edge.from);
      const intoItem = edge.when === 'true' && graph.nodes[edge.from]!.kind === 'map';
      if (edge.when === 'error' || intoItem) setId(node, edge.from);
      else set(node, edge.from);
    }
  }
  return before;
}

function checkReads(
  issues: Issues,
  graph: Graph,
  links: Links,
  structure: Structure,
  given: {
    reads: readonly KeyRead[];
    inputKeys: readonly string[] | undefined;
    writers: Map<string, number[]>;
  },
): void {
  const bits = new Map([...given.writers.keys()].map((key, bit) => [key, bit]));
  const before = keysBefore(graph, links, structure, bits);
  const input = given.inputKeys && new Set(given.inputKeys);
  const reported = new Set<string>();
  const suggest = createSuggestions([...given.writers.keys(), ...(given.inputKeys ?? [])]);
  for (const { node, key, path, position } of given.reads) {
    const bit = bits.get(key);
    // If the input's keys are unknown, a key that no node writes may be in the input.
    if (input?.has(key) === true) continue;
    const meant = bit === undefined ? suggest(key) : undefined;
    if (input === undefined && bit === undefined && meant === undefined) continue;
    if (before.has(node, bits.size) || (bit !== undefined && before.has(node, bit))) continue;
    const { id } = graph.nodes[node]!;
    if (reported.has(`${key} ${path}`)) continue;
    reported.add(`${key} ${path}`);
    if (meant !== undefined) {
      const sets = input === undefined ? 'no node sets' : 'neither the input nor a node sets';
      const message = `Node '${id}' reads '${key}', which ${sets}; did you mean '${meant}'?`;
      issues.warning('key_not_set', message, { node_id: id, path, position });
      continue;
    }
    const [writer] = given.writers.get(key) ?? [];
    const message =
      writer === undefined
        ? `Node '${id}' reads '${key}', which neither the input nor a node before it sets`
        : `Node '${id}' reads '${key}', which is set by '${graph.nodes[writer]!.id}', but not before it`;
    issues.warning('key_not_set', message, { node_id: id, path, position });
  }
}

/** Suggestions for misspelled keys: one per key, for a limited number of keys. */
function createSuggestions(names: readonly string[]): (key: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  const short = names.filter((name) => name.length <= MAX_SUGGESTED_LENGTH);
  return (key) => {
    if (!known.has(key) && known.size < MAX_SUGGESTIONS && key.length <= MAX_SUGGESTED_LENGTH) {
      known.set(key, suggest(key, short));
    }
    return known.get(key);
  };
}

function checkParallelWrites(
  issues: Issues,
  graph: Graph,
  links: Links,
  structure: Structure,
  writers: Map<string, number[]>,
): void {
  const shared = [...writers].filter(([, nodes]) => nodes.length > 1);
  if (shared.length === 0) return;
  const ancestors = ancestorsOf(graph, links, structure);
  const results = branchesOf(graph, links, structure);
  const exclusive = (first: number, second: number): boolean =>
    results.true.meets(first, results.false, second) ||
    results.error.meets(first, results.success, second);
  const scopes = scopesOf(graph, structure);
  const parallel = (first: number, second: number): boolean =>
    scopes[first] === scopes[second] &&
    !ancestors.has(second, first) &&
    !exclusive(first, second) &&
    !exclusive(second, first);
  for (const [key, nodes] of shared) {
    const pair = firstPair(nodes, parallel);
    if (pair === undefined) continue;
    const [first, second] = pair.map((node) => graph.nodes[node]!.id) as [string, string];
    const message = `The nodes '${first}' and '${second}' may run at the same time and both set '${key}'; '${second}' wins`;
    issues.warning('parallel_output_key', message, { node_id: second, path: `nodes[${pair[1]}]` });
  }
}

/** Per node: the innermost map around it, or -1. Nodes of an item write to a separate layer. */
function scopesOf(graph: Graph, { loops }: Structure): number[] {
  const scopes = new Array<number>(graph.nodes.length).fill(-1);
  for (const { loop, nodes } of loops.bodies) {
    if (graph.nodes[loop]!.kind === 'map') for (const node of nodes) scopes[node] = loop;
  }
  return scopes;
}

/** Since nodes are in topological order, only the earlier of two can be an ancestor of the other. */
function firstPair(
  nodes: readonly number[],
  test: (first: number, second: number) => boolean,
): [number, number] | undefined {
  for (const [at, second] of nodes.entries()) {
    for (let earlier = 0; earlier < at; earlier += 1) {
      if (test(nodes[earlier]!, second)) return [nodes[earlier]!, second];
    }
  }
  return undefined;
}

function ancestorsOf(graph: Graph, links: Links, { order, loops }: Structure): BitRows {
  const ancestors = createBitRows(graph.nodes.length, graph.nodes.length);
  for (const node of order) {
    for (const edge of links.in[node]!) {
      if (loops.back.has(edge)) continue;
      ancestors.unite(node, edge.from);
      ancestors.add(node, edge.from);
    }
  }
  return ancestors;
}

/** Mutually exclusive results of a node: true and false, error and success. */
type Result = 'true' | 'false' | 'error' | 'success';

/**
 * Per result and node: the nodes that must have had this result for it to run. It is the intersection over its incoming
 * edges. For a loop or map, true leads to its body and false to the nodes after it.
 */
function branchesOf(
  graph: Graph,
  links: Links,
  { order, loops }: Structure,
): Record<Result, BitRows> {
  const size = graph.nodes.length;
  const rows = (): BitRows => createBitRows(size, size);
  const tables = { true: rows(), false: rows(), error: rows(), success: rows() };
  for (const node of order) {
    const edges = links.in[node]!.filter((edge) => !loops.back.has(edge));
    for (const [result, table] of Object.entries(tables) as [Result, BitRows][]) {
      const words = table.words(node);
      edges.forEach((edge, at) => {
        const bit = resultsOf(graph.nodes[edge.from]!, edge).includes(result) ? edge.from : -1;
        table.words(edge.from).forEach((word, place) => {
          const needed = place === bit >> 5 && bit >= 0 ? word | (1 << (bit & 31)) : word;
          words[place] = at === 0 ? needed : words[place]! & needed;
        });
      });
    }
  }
  return tables;
}

/** The results of a node for which an edge is taken. */
function resultsOf(source: GraphNode, { when }: LinkedEdge): Result[] {
  if (when === 'error') return ['error'];
  if (!isBranching(source)) return ['success'];
  const answer = repeats(source) ? (when ?? 'false') : when;
  return answer === undefined ? ['success'] : ['success', answer];
}
