import type { AgentNode, ToolNode } from '../../shared/contract/graph.ts';
import type { NodeCall } from '../../activities/nodes/node.ts';

type Overrides<Node extends AgentNode | ToolNode> = Partial<Omit<NodeCall<Node>, 'node'>> & {
  node?: Partial<Node>;
};

const call = {
  workspaceId: 'ws_1',
  workflowId: 'wf_1',
  runId: 'run_1',
  stepKey: 'step',
  attempt: 1,
  idempotencyKey: 'run_1/step/0',
  budgeted: false,
  params: {},
  state: {},
};

export const agentCall = ({ node, ...rest }: Overrides<AgentNode> = {}): NodeCall<AgentNode> => ({
  ...call,
  signal: new AbortController().signal,
  ...rest,
  node: { id: 'ask', kind: 'agent', model: 'mock', ...node },
});

export const toolCall = (
  tool: string,
  params: NodeCall['params'],
  { node, ...rest }: Overrides<ToolNode> = {},
): NodeCall<ToolNode> => ({
  ...call,
  signal: new AbortController().signal,
  ...rest,
  params,
  node: { id: 'act', kind: 'tool', tool_name: tool, params, ...node },
});
