import type { ExecutedNode } from './kinds.ts';
import { isShortTool } from '#shared/tools.ts';

/**
 * How a step is dispatched. `short`: as a local activity on the worker of the workflow task, without a dispatch by the
 * server. `long`: as an activity with its own task queue, heartbeats and retries.
 */
export type Lane = 'short' | 'long';

/**
 * The lane of a node's steps. Short: tools that are marked as short in `shared/tools.ts`, and agents that only call the
 * mock model, without a delay. A short step whose attempt takes longer than SHORT_ATTEMPT_MS, is costly to compute, or
 * must be retried continues in the long lane.
 */
export function laneOf(node: ExecutedNode): Lane {
  if (node.kind === 'tool') return isShortTool(node.tool_name) ? 'short' : 'long';
  if (node.kind === 'code') return 'long';
  const models = [node.model, ...(node.fallback_models ?? [])];
  const immediate = (node.mock?.delay_ms ?? 0) === 0;
  return immediate && models.every((model) => model === 'mock') ? 'short' : 'long';
}
