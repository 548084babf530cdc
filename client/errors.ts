import type { NeededSignIn } from './types.ts';

/** A response of the service other than 2xx. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The error message of the service, for people. */
  readonly detail: string;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the service says so. */
  readonly retryAfter: number | undefined;
  /**
   * For status 412: the present record; null if it was deleted. For a decision with an older digest (409): the `digest`
   * and the `consequences` that the gate has now.
   */
  readonly current: unknown;
  /** For an approval of a gate with `recheck` (409): when other values were found, and the differences. */
  readonly stale: unknown;
  /** For an import of tools (400): what is needed, if the MCP server requires sign-in. */
  readonly needsSignIn: NeededSignIn | undefined;

  constructor(
    status: number,
    detail: string,
    more: {
      requestId?: string;
      retryAfter?: number;
      current?: unknown;
      stale?: unknown;
      needsSignIn?: NeededSignIn | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(`${detail} (${status})`, { cause: more.cause });
    this.status = status;
    this.detail = detail;
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
    this.current = more.current;
    this.stale = more.stale;
    this.needsSignIn = more.needsSignIn;
  }
}

/** The wait for a run timed out; the run continues. */
export class WaitTimeoutError extends ApiError {
  override readonly name = 'WaitTimeoutError';
  readonly runId: string;

  constructor(runId: string, seconds: number) {
    super(408, `Run ${runId} did not end or pause within ${seconds} s; it continues`);
    this.runId = runId;
  }
}

/** The trigger started no run, because the limit of the workflow is reached and skips further runs. */
export class RunSkippedError extends ApiError {
  override readonly name = 'RunSkippedError';

  constructor(detail: string) {
    super(200, detail);
  }
}

/** There was no response: the connection was refused or broke, or the request timed out. */
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

/** A stream ended, but not because of the caller. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  /**
   * 4401 no valid token, 4403 not permitted, 4404 unknown run, 1001 the service stops, 1006 the connection broke,
   * 1013 too many streams or a reader that is too slow.
   */
  readonly code: number;

  constructor(code: number, message: string) {
    super(`${message} (${code})`);
    this.code = code;
  }
}

/** A webhook delivery that the service did not send, or that is outside the time tolerance. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}
