/** An answer of the service other than 2xx. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** What the service says of it, for a person to read. */
  readonly detail: string;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds after which the service asks to come back, if it does. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    detail: string,
    more: { requestId?: string; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(`${detail} (${status})`, { cause: more.cause });
    this.status = status;
    this.detail = detail;
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
  }
}

/** The wait for a run took too long; the run itself goes on. */
export class WaitTimeoutError extends ApiError {
  override readonly name = 'WaitTimeoutError';
  readonly runId: string;

  constructor(runId: string, seconds: number) {
    super(408, `Run ${runId} did not come to rest within ${seconds} s; it goes on`);
    this.runId = runId;
  }
}

/** There was no answer: nobody listens, the connection broke, or the answer took too long. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly timedOut: boolean;

  constructor(
    message: string,
    { timedOut = false, cause }: { timedOut?: boolean; cause?: unknown },
  ) {
    super(message, { cause });
    this.timedOut = timedOut;
  }
}

/** A run's stream ended other than by the caller. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  /**
   * 4401 no valid token, 4403 not permitted, 4404 no such run, 1001 the service stops, 1006 the connection broke,
   * 1013 too many streams or a reader that does not keep up.
   */
  readonly code: number;

  constructor(code: number, message: string) {
    super(`${message} (${code})`);
    this.code = code;
  }
}

/** A webhook delivery that is not what the service sent, or not now. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}
