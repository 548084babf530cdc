import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import { settingsOf } from '#shared/graph/gates/gate-settings.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { nodeTexts } from '#shared/graph/node-texts.ts';
import {
  CONNECTIONS,
  isConnectionPath,
  SECRETS,
  type ValueSource,
} from '#shared/values/secrets.ts';
import { customFacts } from './attempts.ts';
import { approvalGates } from './examine.ts';
import type { DryRunRequest, ReachableGate } from './request.ts';

/** Represents a host that is only known when the step runs. */
const AT_RUN_TIME = 'at_run_time';

/** The parameters that contain each tool's address. Without one, a chat message goes to the installation's channel. */
const ADDRESSES: Readonly<Record<string, string>> = {
  http_request: 'url',
  mcp: 'server_url',
  send_chat_message: 'webhook_url',
};

/** The hosts that the tools of a node call. */
export function hostsOf(node: GraphNode, tools: DryRunRequest['customTools']): string[] {
  if (node.kind === 'tool') return hostOf(node.tool_name, node.params, tools);
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).flatMap(({ name, fixed }) => {
    const called = hostOf(name, fixed ?? {}, tools);
    // Its model sets the address.
    return called.length === 0 && name === 'http_request' ? [AT_RUN_TIME] : called;
  });
}

function hostOf(tool: string, params: JsonObject, tools: DryRunRequest['customTools']): string[] {
  const custom = customFacts(tool, tools);
  if (custom !== undefined) return [custom.host];
  const address = Object.hasOwn(ADDRESSES, tool) ? params[ADDRESSES[tool]!] : undefined;
  if (address === undefined) return [];
  if (typeof address !== 'string') return [AT_RUN_TIME];
  const [literal] = parseTemplate(address).parts;
  const origin = typeof literal === 'string' ? ORIGIN.exec(literal)?.[0] : undefined;
  return [(origin === undefined ? null : URL.parse(origin))?.host ?? AT_RUN_TIME];
}

/** References are only allowed after the host. */
const ORIGIN = /^https?:\/\/[^/?#\\]+(?=[/?#\\]|$)/i;

/** The names of the secrets that a node's texts refer to, and of those used by the custom tools that it calls. */
export const secretsOf = (node: GraphNode, tools: DryRunRequest['customTools']): string[] => [
  ...namesIn(node, SECRETS),
  ...calledTools(node).flatMap((name) => customFacts(name, tools)?.secrets ?? []),
];

/** The same for connections, each once. */
export const connectionsOf = (node: GraphNode, tools: DryRunRequest['customTools']): string[] => [
  ...new Set([
    ...namesIn(node, CONNECTIONS),
    ...calledTools(node).flatMap((name) => customFacts(name, tools)?.connections ?? []),
  ]),
];

function calledTools(node: GraphNode): string[] {
  if (node.kind === 'tool') return [node.tool_name];
  return node.kind === 'agent' ? agentToolsOf(node).map(({ name }) => name) : [];
}

/** The names of the secrets, or connections, to which a node's texts refer. */
export const namesIn = (node: GraphNode, source: ValueSource): string[] =>
  nodeTexts(node)
    .filter(({ secrets }) => secrets === true)
    .flatMap(({ text }) => parseTemplate(text).parts)
    .flatMap((part) => {
      if (typeof part !== 'object' || part.path[0] !== source) return [];
      return source === SECRETS || isConnectionPath(part.path) ? [String(part.path[1] ?? '')] : [];
    });

/** The gate of a node, of a step that needs approval, or of an agent whose calls need approval. */
export function gateOf(node: GraphNode): ReachableGate[] {
  if (node.kind === 'human_gate') return [{ node_id: node.id, settings: settingsOf(node) ?? {} }];
  const approval = approvalOf(node);
  if (approval !== undefined) return [{ node_id: node.id, settings: approval.settings ?? {} }];
  return node.kind === 'agent' && approvalGates(node) ? [{ node_id: node.id, settings: {} }] : [];
}
