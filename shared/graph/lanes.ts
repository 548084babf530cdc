import type { ExecutedNode } from './kinds.ts';
import { isShortTool } from '../tools.ts';

/**
 * How a step is dispatched. `short`: as a local activity, on the worker that holds the workflow task, which
 * spares the server its dispatch. `long`: as an activity with a task queue, heartbeats and retries of its own.
 */
export type Lane = 'short' | 'long';

/**
 * The lane of a node's steps. Short are the tools marked so in `shared/tools.ts`, and agents that ask only the mock
 * model, without a delay. A short step whose attempt takes longer than SHORT_ATTEMPT_MS, is costly to compute, or has to
 * be retried goes on in the long lane.
 */
export function laneOf(node: ExecutedNode): Lane {
  if (node.kind === 'tool') return isShortTool(node.tool_name) ? 'short' : 'long';
  const models = [node.model, ...(node.fallback_models ?? [])];
  const immediate = (node.mock?.delay_ms ?? 0) === 0;
  return immediate && models.every((model) => model === 'mock') ? 'short' : 'long';
}
