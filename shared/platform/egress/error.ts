export type EgressErrorCode =
  | 'invalid_request'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'too_many_redirects';

/**
 * Why a request got no response. The message can be shown to tenants: it names the host they requested, and does not
 * distinguish between closed, filtered and failing ports. The cause is for the service's own logs.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.code === 'unreachable' || this.code === 'timeout';
  }
}

/** Host and port, but never path or query, which contain secrets in chat webhooks and signed links. */
export const hostOf = (url: URL): string => url.host;

/** The guard's own error, which clients and SDKs wrap in their own; undefined when there is none. */
export function findEgressError(error: unknown): EgressError | undefined {
  let cause: unknown = error;
  for (let depth = 0; depth < 8 && cause !== null && typeof cause === 'object'; depth += 1) {
    if (cause instanceof EgressError) return cause;
    cause = (cause as { cause?: unknown }).cause;
  }
  return undefined;
}

/** The error for an exchange without a response. */
export function exchangeError(error: unknown, url: URL): EgressError {
  const ours = findEgressError(error);
  // The same text for everything that keeps a host from responding, in any layer.
  if (ours !== undefined && ours.code !== 'unreachable') return ours;
  // fetch rejects invalid arguments with a TypeError without a cause; network failures always have one.
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: unknown };
  return name === 'TypeError' && cause === undefined
    ? new EgressError(
        'invalid_request',
        'The request cannot be sent: its method or body is not valid',
        { cause: error },
      )
    : new EgressError('unreachable', `'${hostOf(url)}' could not be reached`, {
        cause: ours?.cause ?? error,
      });
}
