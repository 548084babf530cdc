import type { GraphInput } from '#shared/contract/workflows/graph.ts';

// Tool nodes with the least work of a real tool: a constant expression that the worker evaluates.

const tool = (id: string) =>
  ({ id, kind: 'tool', tool_name: 'json_transform', params: { expression: '1' } }) as const;

const names = (count: number, stem = 'n'): string[] =>
  Array.from({ length: count }, (_, index) => `${stem}${index + 1}`);

export const chained = (ids: string[]) =>
  ids.slice(1).map((target, index) => ({ source: ids[index] ?? '', target }));

export function chain(length: number): GraphInput {
  const ids = names(length);
  return { nodes: ids.map(tool), edges: chained(ids) };
}

/** A node whose step the server dispatches: it waits, as if for a model. */
export const waitingAgent = (id: string, ms: number) =>
  ({
    id,
    kind: 'agent',
    prompt: 'x',
    model: 'mock',
    mock: { output: 1, delay_ms: ms },
  }) as const;

/** Sequential ordinary steps of `ms` milliseconds each. */
export function ordinaryChain(length: number, ms = 1): GraphInput {
  const ids = names(length);
  return { nodes: ids.map((id) => waitingAgent(id, ms)), edges: chained(ids) };
}

/** Concurrent ordinary steps of `ms` milliseconds each. */
export const ordinarySteps = (
  count: number,
  { shortest, longest }: { shortest: number; longest: number },
): GraphInput => ({
  nodes: names(count).map((id, at) =>
    waitingAgent(id, Math.round(shortest + ((longest - shortest) * at) / count)),
  ),
  edges: [],
});

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

/** A map over the list of the input, whose body is a chain. */
export function mapOf(length: number): GraphInput {
  const ids = names(length);
  return {
    nodes: [{ id: 'map', kind: 'map', items: 'list' }, ...ids.map(tool)],
    edges: [
      { source: 'map', target: ids[0] ?? '', condition_value: 'true' },
      ...chained(ids),
      { source: ids.at(-1) ?? '', target: 'map' },
    ],
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
