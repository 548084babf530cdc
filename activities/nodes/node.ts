import type { AgentNode, ToolNode } from '../../shared/contract/graph.ts';
import type { Json, JsonObject } from '../../shared/json.ts';

/** One attempt at one step: everything a node's own code may know. */
export interface NodeCall<Node extends AgentNode | ToolNode = AgentNode | ToolNode> {
  workspaceId: string;
  workflowId: string;
  runId: string;
  stepKey: string;
  /** 1 for the first try; counts only tries that ended in an error of the node. */
  attempt: number;
  /** Stable over crashes and resets, new after a definite error answer: what outside tools deduplicate by. */
  idempotencyKey: string;
  /** A cap or a budget applies to the run: what has no price must not be used. */
  budgeted: boolean;
  node: Node;
  /** The node's templated parameters with every reference resolved. */
  params: JsonObject;
  /** The part of the run state the node reads as a whole (default prompt, `json_transform`). */
  state: JsonObject;
  /** Asked before each fallback model: false when policies rule it out, which is then on record. Absent: all may. */
  mayFallBack?: ((model: string) => Promise<boolean>) | undefined;
  /** Aborted on cancel, on the node's timeout and when the worker shuts down. */
  signal: AbortSignal;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
}

/** What an attempt cost and used, also when it failed. `costMicros` is in millionths of a dollar. */
export interface Consumption {
  costMicros: number;
  model?: string;
  usage?: Usage;
  /** True when the model has no price, so that `costMicros` is not the truth. */
  unpriced?: boolean;
}

export interface NodeResult extends Consumption {
  output: Json;
}

/** The work of one node kind or one tool. Throws NodeError for what the node itself did wrong. */
export type NodeRunner<Node extends AgentNode | ToolNode = AgentNode | ToolNode> = (
  call: NodeCall<Node>,
) => Promise<NodeResult>;

/**
 * A failure that belongs to the node (a 500 from its tool, a model's refusal, a bad parameter), as opposed to
 * ours (database gone, worker killed). Only these use up the node's attempts.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** False when another try cannot end differently (bad parameters, 4xx other than 408/425/429). */
  readonly retryable: boolean;
  /** True when the outside gave a final error answer for this idempotency key, so the next try needs a new one. */
  readonly definite: boolean;
  readonly consumption: Consumption;

  constructor(
    message: string,
    options: ErrorOptions & {
      retryable?: boolean;
      definite?: boolean;
      consumption?: Consumption;
    } = {},
  ) {
    super(message, options);
    this.retryable = options.retryable ?? true;
    this.definite = options.definite ?? false;
    this.consumption = options.consumption ?? { costMicros: 0 };
  }
}
