import type { AgentNode, CodeNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import type { NodeRetry } from '#shared/contract/workflows/node-common.ts';
import { customToolName } from '#shared/tools.ts';
import { defaultTimeoutSeconds, retryDelayMs } from '#shared/graph/kinds.ts';
import type { CustomToolFacts, DryRunRequest } from './request.ts';

/** The attempts at a step, and how long each may take. */
interface Attempts {
  most: number;
  timeoutMs: number;
  retry: NodeRetry | undefined;
}

/** The attempts at an agent or one of its turns. */
export const agentAttempts = (node: AgentNode): Attempts => ({
  most: node.retry?.max_attempts ?? 1,
  timeoutMs: 1_000 * (node.timeout_seconds ?? defaultTimeoutSeconds(node)),
  retry: node.retry,
});

export const codeAttempts = (node: CodeNode): Attempts => ({
  most: node.retry?.max_attempts ?? 1,
  timeoutMs: 1_000 * (node.timeout_seconds ?? defaultTimeoutSeconds(node)),
  retry: node.retry,
});

export function toolAttempts(node: ToolNode, tools: DryRunRequest['customTools']): Attempts {
  const custom = customFacts(node.tool_name, tools);
  const seconds = node.timeout_seconds ?? custom?.timeoutSeconds ?? defaultTimeoutSeconds(node);
  const most = node.retry?.max_attempts ?? custom?.attempts ?? 1;
  return { most, timeoutMs: 1_000 * seconds, retry: node.retry };
}

/** The attempts at a tool that an agent offers. */
export const callAttempts = (tool: string, tools: DryRunRequest['customTools']): Attempts =>
  toolAttempts({ id: tool, kind: 'tool', tool_name: tool, params: {}, retry: undefined }, tools);

export function customFacts(
  tool: string,
  tools: DryRunRequest['customTools'],
): CustomToolFacts | undefined {
  const name = customToolName(tool);
  return name !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined;
}

/** The pauses between this many attempts, in ms. */
export function pausesMs(retry: NodeRetry | undefined, attempts: number): number {
  let all = 0;
  for (let failed = 1; failed < attempts; failed += 1) all += retryDelayMs(retry, failed);
  return all;
}

/** The maximum duration of all attempts with the pauses between them, in ms. */
export const longestMs = ({ most, timeoutMs, retry }: Attempts): number =>
  Math.ceil(most * timeoutMs + pausesMs(retry, most));
