/** Every error of a request or a step, as data. `api/http/error-handler.ts` turns a code into an HTTP response. */
export const errorTable = {
  invalid: { status: 400, retryable: false },
  graph_invalid: { status: 400, retryable: false },
  input_invalid: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  quota_exceeded: { status: 402, retryable: false },
  budget_exceeded: { status: 402, retryable: false },
  credits_exhausted: { status: 402, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  conflict: { status: 409, retryable: false },
  changed: { status: 409, retryable: false },
  key_in_use: { status: 409, retryable: true },
  gone: { status: 410, retryable: false },
  precondition_failed: { status: 412, retryable: false },
  too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  idempotency_mismatch: { status: 422, retryable: false },
  unprocessable: { status: 422, retryable: false },
  precondition_required: { status: 428, retryable: false },
  rate_limited: { status: 429, retryable: true },
  allowance_exhausted: { status: 429, retryable: true },
  internal: { status: 500, retryable: false },
  unavailable: { status: 503, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>;

export type ErrorCode = keyof typeof errorTable;

/** An error whose `detail` can be shown to the caller. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  /** When to retry, for a temporary refusal. */
  readonly retryAfterSeconds: number | undefined;
  /** What the caller should have read: the present record, or null when it was deleted; what a gate shows. */
  readonly current: object | null | undefined;
  /** For `changed`: what has changed. */
  readonly stale: object | undefined;
  /** What an MCP server needs that requires sign-in. */
  readonly needsSignIn: object | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    options?: ErrorOptions & {
      retryAfterSeconds?: number;
      current?: object | null;
      stale?: object;
      needsSignIn?: object | undefined;
    },
  ) {
    super(detail, options);
    this.code = code;
    this.stale = options?.stale;
    this.needsSignIn = options?.needsSignIn;
    this.current = options?.current;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** The 404 for a noun. An id that never existed and the id of another workspace get the same error. */
export const notFound = (noun: string): AppError => new AppError('not_found', `${noun} not found`);

/** The 403 for a missing capability, or for granting one that the actor lacks. */
export const forbiddenWithout = (capability: string): AppError =>
  new AppError('forbidden', `This action requires the '${capability}' permission`);

export const conflict = (detail: string): AppError => new AppError('conflict', detail);

/** The error for an email address that belongs to a member of any workspace. */
export const emailTaken = (): AppError =>
  new AppError('invalid', 'A member with this email already exists');

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
