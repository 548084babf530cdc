import { type JsonObject, parsedJson } from '#shared/json.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { type Egress, EgressError } from '#shared/platform/egress/egress.ts';
import { isRetryableStatus, retryAfterMs } from './outside.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * Why a request to Slack failed. `token`: Slack no longer accepts the token. `temporary`: it has done nothing, and the same
 * request can succeed later. `unknown`: it may have done it. `refused`: the same request fails again.
 */
export class SlackError extends Error {
  override readonly name = 'SlackError';
  readonly reason: 'token' | 'temporary' | 'unknown' | 'refused';
  /** In ms; 0 if Slack does not say. */
  readonly retryAfterMs: number;

  constructor(reason: SlackError['reason'], message: string, wait = 0) {
    super(message);
    this.reason = reason;
    this.retryAfterMs = wait;
  }
}

const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
]);
const TEMPORARY: ReadonlySet<string> = new Set([
  'ratelimited',
  'rate_limited',
  'message_limit_exceeded',
  'service_unavailable',
]);
/** Slack's documents say that some of it may have happened. */
const UNKNOWN: ReadonlySet<string> = new Set(['internal_error', 'fatal_error', 'request_timeout']);

export interface SlackTarget {
  apiUrl: string;
  token: string;
}

/** Methods that only read take no JSON. */
const FORMS: ReadonlySet<string> = new Set(['users.info']);

/** Calls a method of Slack's Web API. Returns its answer. Throws SlackError, or the signal's reason. */
export async function callSlack(
  egress: Egress,
  { apiUrl, token }: SlackTarget,
  method: string,
  values: JsonObject,
  { timeoutMs = TIMEOUT_MS, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<JsonObject> {
  const isForm = FORMS.has(method);
  try {
    const { status, headers, body } = await egress.request(`${apiUrl}/${method}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': isForm
          ? 'application/x-www-form-urlencoded'
          : 'application/json; charset=utf-8',
      },
      body: isForm
        ? new URLSearchParams(values as Record<string, string>).toString()
        : JSON.stringify(values),
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
      ...(signal === undefined ? {} : { signal }),
    });
    const wait = retryAfterMs(headers['retry-after']);
    const parsed = parsedJson(body.toString('utf8'));
    const answer = isObject(parsed) ? parsed : undefined;
    if (answer?.['ok'] === true) return answer;
    const code = typeof answer?.['error'] === 'string' ? answer['error'] : undefined;
    throw errorFor(method, { status, code, wait });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    if (!error.retryable) throw new SlackError('refused', error.message);
    throw new SlackError(wasSent(error) ? 'unknown' : 'temporary', error.message);
  }
}

const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether Slack may have got a request without a response. */
function wasSent(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; depth += 1) {
    if (NOT_CONNECTED.has((cause as { code?: unknown }).code)) return false;
    cause = cause.cause;
  }
  return true;
}

function errorFor(
  method: string,
  { status, code, wait }: { status: number; code: string | undefined; wait: number },
): SlackError {
  const said = code !== undefined && /^[\w.-]{1,60}$/.test(code) ? code : `status ${status}`;
  const message = `Slack answered ${method} with ${said}`;
  if (status === 401 || (code !== undefined && TOKEN_ERRORS.has(code))) {
    return new SlackError('token', message);
  }
  if (code !== undefined && UNKNOWN.has(code)) return new SlackError('unknown', message, wait);
  const isTemporary = isRetryableStatus(status) || (code !== undefined && TEMPORARY.has(code));
  return new SlackError(isTemporary ? 'temporary' : 'refused', message, wait);
}
