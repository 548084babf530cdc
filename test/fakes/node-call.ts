import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import type { JsonObject } from '#shared/json.ts';
import type { TurnCall } from '#activities/nodes/model-turn.ts';
import type { AgentNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import type { NodeCall } from '#activities/nodes/node.ts';

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
  code: {
    begin: () => Promise.resolve({ clock: 0, seed: '0'.repeat(64) }),
    keepLog: () => Promise.resolve(),
  },
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

/** A turn without a conversation before it. */
export const turnCall = ({
  node,
  ...rest
}: Overrides<AgentNode> & Partial<Omit<TurnCall, 'node'>> = {}): TurnCall => ({
  ...agentCall({ node: { tools: ['custom:find'], ...node } }),
  turn: 1,
  conversation: { system: '', prompt: 'Hello', turns: [] },
  inputBytes: 100,
  tools: [],
  toolChoice: 'auto',
  ...rest,
});

export const offeredTool = (
  name: string,
  properties: JsonObject = {},
  rest: Partial<OfferedTool> = {},
): OfferedTool => ({
  name,
  providerName: name.replace(/[:.]/g, '_'),
  description: `Calls ${name}`,
  schema: { type: 'object', properties },
  schemaDigest: 'sha256:0',
  toolDigest: null,
  approval: 'never',
  fixed: [],
  maxCalls: undefined,
  onError: 'tell',
  ...rest,
});
