import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { plural } from '#console/src/messages/format.ts';

/** Names of the kinds of nodes. */
export const kindNames = {
  agent: 'Agent',
  tool: 'Tool',
  code: 'Code',
  condition: 'Condition',
  loop: 'Loop',
  map: 'Map',
  workflow: 'Workflow',
  human_gate: 'Human gate',
  wait: 'Wait',
  merge: 'Merge',
} as const satisfies Record<NodeKind, string>;

/** Messages for a drawn graph. */
export const graphView = {
  layingOut: 'Laying the graph out',
  find: 'Find a node',
  nothingFound: 'No node has this text',
  map: 'Map',
  test: (node: string) => `Test ${node}`,
  testKey: 'Test this node · T',
  card: (label: string, about: string) => `${label}, ${about}`,
  insert: 'Insert node',
  port: (port: string, node: string) => `${port} of ${node}: add a node`,
  next: { loop: 'Next round', map: 'Next item' },
  /** Above the nodes that a node repeats. */
  repeated: { loop: 'Repeated by {node}', map: 'For each item of {node}' },
} as const;

/** Names of the ports where edges leave a node: by its result, or with any result. */
export const portNames = {
  agent: { next: 'On success' },
  tool: { next: 'On success' },
  code: { next: 'On success' },
  workflow: { next: 'On success' },
  merge: { next: 'Always' },
  condition: { true: 'Yes', false: 'No', next: 'Always' },
  loop: { true: 'Repeat', false: 'Done' },
  map: { true: 'Each item', false: 'Done' },
  human_gate: { true: 'Approved', false: 'Rejected', next: 'Any decision' },
  wait: { true: 'Came', false: 'Time ran out', next: 'Then' },
  error: 'On error',
  orAtDeadline: (port: string) => `${port}, or no decision before the deadline`,
} as const;

/** What a node does, on its card. */
export const nodeLines = {
  defaultModel: 'mock',
  noExpression: 'no expression yet',
  noTool: 'no tool yet',
  noWorkflow: 'no workflow yet',
  noEvent: 'no event yet',
  noCode: 'no code',
  waitsSeconds: (seconds: string) => `${seconds} s`,
  waitsUntil: (time: string) => `until ${time}`,
  waitsCallback: 'a callback',
  whileTrue: (expression: string) => `while ${expression}`,
  eachItem: (items: string) => `each item of ${items}`,
  ofVersion: (workflow: string, version: number) => `${workflow} · version ${version}`,
  joins: 'Joins branches',
  anyApprover: 'Anyone who can approve',
  members: (members: number) => plural(members, { one: '# member', other: '# members' }),
  oneOf: (names: readonly string[]) => names.join(' or '),
  approvals: (approvals: number) => plural(approvals, { other: '# approvals' }),
  asksBefore: (tools: readonly string[]) => `asks before ${tools.join(', ')}`,
  mayAskBefore: (tools: readonly string[]) => `may ask before ${tools.join(', ')}`,
} as const;
