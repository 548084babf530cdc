import type { AgentNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { OpenCall } from '#shared/agents/turn-record.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { expressionRoots } from '#shared/graph/expression/expression.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { type Callbacks, NO_CALLBACKS } from '#shared/graph/waits/callbacks.ts';
import type { SecretPlace } from '#shared/values/secrets.ts';
import { type PreparedStep, preparingWork, renderParams } from './step.ts';

/** An agent with tools and resolved templates, prepared once for all its turns. */
export interface PreparedAgent {
  node: AgentNode;
  label: string;
  /** Only for the first turn. For later turns, the ledger has them. */
  prompts: JsonObject;
  /** The script of the mock model; empty for other models. */
  mock: JsonObject;
  /** The arguments that the node sets, by tool. */
  fixed: Record<string, JsonObject>;
  /** Where these arguments contain secrets and addresses of callbacks, by tool. */
  secrets: Record<string, SecretPlace[]>;
  /** The part of the state that the approval expressions read. */
  state: JsonObject;
  /** The work to prepare it, in units of a WorkBudget. */
  work: number;
}

/** Throws TemplateError or ExpressionError when a template of the node cannot be rendered with the state. */
export function prepareTools(
  node: AgentNode,
  state: JsonObject,
  callbacks: Callbacks = NO_CALLBACKS,
): PreparedAgent {
  const { system_prompt, prompt, mock, tools = [], ...rest } = node;
  const prompts: JsonObject = {
    ...(system_prompt === undefined ? {} : { system_prompt: renderValue(system_prompt, state) }),
    prompt: prompt === undefined ? { ...state } : renderValue(prompt, state),
  };
  const { output, turns, ...bareMock } = mock ?? {};
  const script: JsonObject = {
    ...(output === undefined ? {} : { output: renderValue(output, state) }),
    ...(turns === undefined ? {} : { turns: renderValue(turns as unknown as Json, state) }),
  };
  const fixed: Record<string, JsonObject> = {};
  const secrets: Record<string, SecretPlace[]> = {};
  const read: JsonObject = {};
  for (const tool of tools) {
    if (typeof tool === 'string') continue;
    if (tool.fixed !== undefined) {
      const rendered = renderParams(tool.name, tool.fixed, state, callbacks);
      fixed[tool.name] = rendered.params;
      if (rendered.secrets.length > 0) secrets[tool.name] = rendered.secrets;
    }
    for (const key of rootsOf(tool.approval)) {
      if (Object.hasOwn(state, key)) read[key] = state[key]!;
    }
  }
  // The script has the texts; the costs are in the node.
  const costs = turns?.map(({ cost_usd }) => (cost_usd === undefined ? {} : { cost_usd }));
  const priced = costs === undefined ? bareMock : { ...bareMock, turns: costs };
  const bare: AgentNode = { ...rest, tools, ...(mock === undefined ? {} : { mock: priced }) };
  const rendered = { ...prompts, mock: script, fixed, state: read };
  return {
    node: bare,
    label: nodeLabel(node),
    prompts,
    mock: Object.keys(script).length === 0 ? {} : { mock: script },
    fixed,
    secrets,
    state: read,
    work: preparingWork(node, { node: bare, label: '', params: rendered, state: {} }),
  };
}

/** The keys of the state that an approval expression reads. */
function rootsOf(approval: string | undefined): string[] {
  if (approval === undefined || approval === 'always' || approval === 'never') return [];
  return expressionRoots(approval).filter((key) => key !== 'args');
}

export function prepareTurn(agent: PreparedAgent, part: AgentPart): PreparedStep {
  const { node, label, prompts, mock, fixed, state } = agent;
  return {
    node,
    label: `${label}, turn ${part.turn}`,
    params: part.turn === 1 ? { ...prompts, ...mock } : mock,
    state: {},
    agent: {
      ...part,
      ...(Object.keys(fixed).length === 0 ? {} : { fixed }),
      ...(Object.keys(state).length === 0 ? {} : { state }),
    },
  };
}

/** Identifies an agent's call. */
export function callPart(
  node: AgentNode,
  agentKey: string,
  turn: number,
  { index, tool }: OpenCall,
): AgentPart & { call: number } {
  const fails = (node.tools ?? []).some(
    (entry) => typeof entry !== 'string' && entry.name === tool && entry.on_error === 'fail',
  );
  const part = { step_key: agentKey, turn, call: index, tool };
  return fails ? { ...part, fails } : part;
}

/** A call without its arguments, which are in the ledger. */
export function prepareCall(
  { node, secrets }: PreparedAgent,
  agentKey: string,
  turn: number,
  call: OpenCall,
): PreparedStep {
  const { tool } = call;
  const called: ToolNode = { id: node.id, kind: 'tool', label: tool, tool_name: tool, params: {} };
  const own = Object.hasOwn(secrets, tool) ? secrets[tool] : undefined;
  return {
    node: called,
    label: tool,
    params: {},
    state: {},
    ...(own === undefined ? {} : { secrets: own }),
    agent: callPart(node, agentKey, turn, call),
  };
}
