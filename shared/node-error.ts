import type { ErrorKind } from './graph/caught-error.ts';

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  /** The part of `input_tokens` that the provider read from its cache; absent when it reports none. */
  cached_tokens?: number;
  /** The part of `input_tokens` that the provider stored in its cache, where that costs more. */
  cache_write_tokens?: number;
  /** What the tokens were charged at. */
  price?: TokenPrice;
}

/** US dollars per million tokens. */
interface TokenPrice {
  input_usd_per_million: number;
  output_usd_per_million: number;
  cached_input_usd_per_million?: number;
}

/** The cost and usage of an attempt, even if it failed. `costMicros` is in millionths of a dollar. */
export interface Consumption {
  costMicros: number;
  model?: string;
  usage?: Usage;
  /** True when the model has no price, so that `costMicros` is incomplete. */
  unpriced?: boolean;
  /** The provider did not report the tokens, so `costMicros` is the maximum cost of the request. */
  estimated?: boolean;
}

/**
 * A failure of the node (a 500 from its tool, a model's refusal, a bad parameter), not of the service (database
 * unavailable, worker killed). Only these use up the node's retries.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** False when a retry cannot succeed (bad parameters, 4xx other than 408/425/429). */
  readonly retryable: boolean;
  /**
   * True when the external service returned a final error for this idempotency key, so that the next try needs a new
   * one.
   */
  readonly definite: boolean;
  readonly kind: ErrorKind;
  readonly consumption: Consumption;
  /** The status of the failed HTTP response. */
  readonly status: number | undefined;
  /** Its `WWW-Authenticate` header, of an MCP server. */
  readonly challenge: string | undefined;
  /** How long the external service asks to wait before the next try, in ms; 0 if it does not. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    options: ErrorOptions & {
      retryable?: boolean;
      definite?: boolean;
      /** The default is `node`. */
      kind?: ErrorKind;
      consumption?: Consumption;
      status?: number | undefined;
      challenge?: string | undefined;
      retryAfterMs?: number;
    } = {},
  ) {
    super(message, options);
    this.retryable = options.retryable ?? true;
    this.definite = options.definite ?? false;
    this.kind = options.kind ?? 'node';
    this.consumption = options.consumption ?? { costMicros: 0 };
    this.status = options.status;
    this.challenge = options.challenge;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}
