import type { GraphInput } from '#shared/contract/workflows/graph.ts';

const edge = (source: string, target: string, condition_value?: 'true' | 'false') => ({
  source,
  target,
  ...(condition_value === undefined ? {} : { condition_value }),
});
const agent = (id: string, mock: object = {}) =>
  ({
    id,
    kind: 'agent',
    prompt: '{ticket}',
    mock: { output: id, cost_usd: 0.001, ...mock },
  }) as const;
const transform = (id: string, expression = `'${id}'`) =>
  ({ id, kind: 'tool', tool_name: 'json_transform', params: { expression } }) as const;
const gate = (id: string) => ({ id, kind: 'human_gate', prompt: `${id}?` }) as const;

export interface RunnableGraph {
  graph: GraphInput;
  run_cap_usd?: number;
}

/** Graphs whose runs cover every state. `outside`: base URL of the fake. */
export const runnableGraphs = (outside: string): RunnableGraph[] => [
  { graph: { nodes: [transform('answer')], edges: [] } },
  { graph: { nodes: [gate('ok')], edges: [] } },
  {
    graph: {
      nodes: [agent('draft'), gate('ok'), transform('yes'), transform('no')],
      edges: [edge('draft', 'ok'), edge('ok', 'yes', 'true'), edge('ok', 'no', 'false')],
    },
  },
  // Waits long enough to be canceled.
  { graph: { nodes: [agent('slow', { delay_ms: 60_000 })], edges: [] } },
  // Fails, then succeeds when resumed.
  {
    graph: {
      nodes: [{ ...agent('weak', { fail_times: 1 }), retry: { max_attempts: 1 } }],
      edges: [],
    },
  },
  { graph: { nodes: [transform('wrong', 'missing.field')], edges: [] } },
  // Stopped by its cap before the second step.
  {
    graph: { nodes: [agent('a'), agent('b')], edges: [edge('a', 'b')] },
    run_cap_usd: 0.001,
  },
  {
    graph: {
      nodes: [
        { id: 'again', kind: 'loop', expression: 'true', max_iterations: 2 },
        transform('turn'),
        { id: 'big', kind: 'condition', expression: 'len(turn) > 3' },
        transform('end'),
      ],
      edges: [
        edge('again', 'turn', 'true'),
        edge('turn', 'again'),
        edge('again', 'big', 'false'),
        edge('big', 'end', 'true'),
      ],
    },
  },
  {
    graph: {
      nodes: [
        {
          id: 'call',
          kind: 'tool',
          tool_name: 'http_request',
          params: { url: `${outside}/tools/plain`, method: 'POST', body: { act: '{ticket}' } },
          timeout_seconds: 5,
        },
      ],
      edges: [],
    },
  },
];
