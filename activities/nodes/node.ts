import type { ExecutedNode } from '#shared/graph/kinds.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import type { Consumption } from '#shared/node-error.ts';
import type { CodeSurroundings } from '#shared/platform/code/tool.ts';
import type { StepSecrets } from '#shared/platform/secrets/open-secrets.ts';
import type { Place } from '#shared/platform/threads/untrusted.ts';

export { type Consumption, NodeError } from '#shared/node-error.ts';

/** One attempt at one step, as the node's code gets it. */
export interface NodeCall<Node extends ExecutedNode = ExecutedNode> {
  workspaceId: string;
  workflowId: string;
  runId: string;
  stepKey: string;
  /** 1 for the first try. Counts only tries that ended in an error of the node. */
  attempt: number;
  /**
   * The same after crashes and resets, new after a definite error response. External tools use it for deduplication.
   */
  idempotencyKey: string;
  /** A cap or a budget applies to the run, so a model without a price must not be used. */
  budgeted: boolean;
  /** The workspace's prices that override the price table. */
  prices?: PriceOverrides | undefined;
  node: Node;
  /** The registered tool of a `custom:<name>`; undefined when there is none. */
  customTool?: CustomTool | undefined;
  /** A person approved the call, so nothing that it depends on can come from a cache. */
  approved?: boolean | undefined;
  /** The secrets of its parameters or its custom tool, sealed. */
  secrets?: StepSecrets | undefined;
  /** The node's templated parameters with every reference resolved. */
  params: JsonObject;
  /** The part of the run state that the node reads as a whole (default prompt, `json_transform`). */
  state: JsonObject;
  /** Called before each fallback model. False when policies block it; this is recorded. Absent: all are allowed. */
  mayFallBack?: ((model: string) => Promise<boolean>) | undefined;
  /** Why policies forbid following a redirect to this address; this is recorded. Absent: all are allowed. */
  redirectRefusal?: ((url: URL) => Promise<string | undefined>) | undefined;
  /** Called with a model's text as it arrives, without keys. After one model has failed, the next starts again. */
  onText?: ((text: string, model: string) => void) | undefined;
  /** For code: what it begins with, in every attempt, and where its log is kept. */
  code: Pick<CodeSurroundings, 'begin' | 'keepLog' | 'exceeded'>;
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
