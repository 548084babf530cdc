import type { GraphInput } from '../shared/contract/graph.ts';

// Tool nodes with the least work of a real tool: a constant expression, evaluated by the worker.

const tool = (id: string) =>
  ({ id, kind: 'tool', tool_name: 'json_transform', params: { expression: '1' } }) as const;

const names = (count: number, stem = 'n'): string[] =>
  Array.from({ length: count }, (_, index) => `${stem}${index + 1}`);

const chained = (ids: string[]) =>
  ids.slice(1).map((target, index) => ({ source: ids[index] ?? '', target }));

export function chain(length: number): GraphInput {
  const ids = names(length);
  return { nodes: ids.map(tool), edges: chained(ids) };
}

/** Nodes whose steps the server dispatches: each waits for a millisecond, as if for a model. */
export function ordinaryChain(length: number): GraphInput {
  const ids = names(length);
  const nodes = ids.map(
    (id) =>
      ({
        id,
        kind: 'agent',
        prompt: 'x',
        model: 'mock',
        mock: { output: 1, delay_ms: 1 },
      }) as const,
  );
  return { nodes, edges: chained(ids) };
}

/** One node, then `size - 2` parallel nodes, then a merge of them all. */
export function fanOut(size: number): GraphInput {
  const branches = names(size - 2, 'branch');
  return {
    nodes: [tool('first'), ...branches.map(tool), { id: 'all', kind: 'merge' }],
    edges: branches.flatMap((id) => [
      { source: 'first', target: id },
      { source: id, target: 'all' },
    ]),
  };
}

/** A gate between two tools. */
export function gated(): GraphInput {
  return {
    nodes: [tool('before'), { id: 'gate', kind: 'human_gate', prompt: 'Go on?' }, tool('after')],
    edges: [
      { source: 'before', target: 'gate' },
      { source: 'gate', target: 'after' },
    ],
  };
}
