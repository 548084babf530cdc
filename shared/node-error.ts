interface Usage {
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
  /** The status of the HTTP answer that was the failure. */
  readonly status: number | undefined;

  constructor(
    message: string,
    options: ErrorOptions & {
      retryable?: boolean;
      definite?: boolean;
      consumption?: Consumption;
      status?: number;
    } = {},
  ) {
    super(message, options);
    this.retryable = options.retryable ?? true;
    this.definite = options.definite ?? false;
    this.consumption = options.consumption ?? { costMicros: 0 };
    this.status = options.status;
  }
}
