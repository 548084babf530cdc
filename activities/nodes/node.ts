import type { ExecutedNode } from '#shared/graph/kinds.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import type { Consumption } from '#shared/node-error.ts';
import type { StepSecrets } from '#shared/platform/secrets/open-secrets.ts';
import type { Place } from '#shared/platform/threads/untrusted.ts';

export { type Consumption, NodeError } from '#shared/node-error.ts';

/** One attempt at one step, as the node's code receives it. */
export interface NodeCall<Node extends ExecutedNode = ExecutedNode> {
  workspaceId: string;
  workflowId: string;
  runId: string;
  stepKey: string;
  /** 1 for the first try; counts only tries that ended in an error of the node. */
  attempt: number;
  /** Stable over crashes and resets, new after a definite error response: external tools use it for deduplication. */
  idempotencyKey: string;
  /** A cap or a budget applies to the run: a model without a price must not be used. */
  budgeted: boolean;
  /** The workspace's prices where they differ from the price table. */
  prices?: PriceOverrides | undefined;
  node: Node;
  /** The registered tool of a `custom:<name>`; undefined when there is none. */
  customTool?: CustomTool | undefined;
  /** A person approved the call: nothing that it depends on may be taken from a cache. */
  approved?: boolean | undefined;
  /** The secrets of its parameters, or of its custom tool, sealed. */
  secrets?: StepSecrets | undefined;
  /** The node's templated parameters with every reference resolved. */
  params: JsonObject;
  /** The part of the run state that the node reads as a whole (default prompt, `json_transform`). */
  state: JsonObject;
  /**
   * Called before each fallback model: false when policies block it, which is then recorded. Absent: all are allowed.
   */
  mayFallBack?: ((model: string) => Promise<boolean>) | undefined;
  /** Why policies refuse to follow a redirect to this address, which is then recorded. Absent: all are allowed. */
  redirectRefusal?: ((url: URL) => Promise<string | undefined>) | undefined;
  /** Where its texts can be computed. */
  place?: Place | undefined;
  /** Aborted on cancel, on the node's timeout and when the worker shuts down. */
  signal: AbortSignal;
}

export interface NodeResult extends Consumption {
  output: Json;
}

/** The work of one node kind or one tool. Throws NodeError for errors of the node itself. */
export type NodeRunner<Node extends ExecutedNode = ExecutedNode> = (
  call: NodeCall<Node>,
) => Promise<NodeResult>;
