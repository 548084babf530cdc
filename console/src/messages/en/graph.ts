import type { EdgeCondition, NodeKind } from '#shared/contract/workflows/graph.ts';

/** Names of the kinds of nodes. */
export const kindNames = {
  agent: 'Agent',
  tool: 'Tool',
  condition: 'Condition',
  loop: 'Loop',
  map: 'Map',
  workflow: 'Workflow',
  human_gate: 'Human gate',
  merge: 'Merge',
} as const satisfies Record<NodeKind, string>;

/** Messages for a drawn graph. */
export const graphView = {
  layingOut: 'Laying the graph out',
  map: 'Map',
  card: (label: string, kind: string) => `${label}, ${kind}`,
  cardWith: (label: string, kind: string, more: string) => `${label}, ${kind}, ${more}`,
  insert: 'Insert node',
  edges: { true: 'true', false: 'false', error: 'error' } as const satisfies Record<
    EdgeCondition,
    string
  >,
  /** Above the nodes that a node repeats. */
  repeated: { loop: 'Repeated by {node}', map: 'For each item of {node}' },
} as const;
