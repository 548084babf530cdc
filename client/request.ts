import { ApiError, ConnectionError } from './errors.ts';
import type { AnswerOf, BodyOf, QueryOf, Route } from './routes.ts';
import type { NeededSignIn } from './types.ts';

/** Options of one call. */
export interface CallOptions {
  /** Seconds for the whole call, including its retries. */
  timeout?: number;
  signal?: AbortSignal;
}

/** Options of a change to one record. */
export interface WriteOptions extends CallOptions {
  /**
   * The `etag` of the record as you read it, or `*` for any. If the record has changed since, the call fails with an
   * `ApiError` of status 412, whose `current` is the present record.
   */
  ifMatch?: string | undefined;
}

export interface Connection {
  /** Without a trailing slash. */
  baseUrl: string;
  credential: Record<string, string>;
  /** Seconds. */
  timeout: number;
  /** Maximum retries of a repeatable call. */
  retries: number;
  fetch: typeof fetch;
}

interface Content<R extends Route> {
  query?: QueryOf<R>;
  body?: BodyOf<R>;
  headers?: Record<string, string>;
  options?: WriteOptions | undefined;
}

/** Sends one operation. `ids` replace the parameters of its path, in order. */
export type Send = <R extends Route>(
  route: R,
  ids?: readonly (string | number)[],
  content?: Content<R>,
) => Promise<AnswerOf<R>>;

const FIRST_DELAY_MS = 250;

/**
 * Sends all requests to the service. A response other than 2xx throws an `ApiError`; no response throws a
 * `ConnectionError`. Reads, and requests with an `Idempotency-Key`, are retried after a broken connection and after
 * 429, 502, 503 and 504. Other writes are sent once, since a failed one may have been applied.
 */
export function createSend(connection: Connection): Send {
  return async <R extends Route>(
    route: R,
    ids: readonly (string | number)[] = [],
    { query, body, headers = {}, options = {} }: Content<R> = {},
  ): Promise<AnswerOf<R>> => {
    const [method = '', template = ''] = route.split(' ');
    const url = connection.baseUrl + fillPath(template, ids) + queryString(query);
    const request: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...connection.credential,
        ...(options.ifMatch === undefined ? {} : { 'if-match': entityTag(options.ifMatch) }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Following a redirect would send the credential to its target.
      redirect: 'manual',
    };
    const repeatable = method === 'GET' || 'Idempotency-Key' in headers;
    const seconds = options.timeout ?? connection.timeout;
    return withDeadline(seconds, options.signal, (signal, remainingMs) =>
      sendRepeatedly<AnswerOf<R>>(
        connection,
        { url, request: { ...request, signal } },
        { retries: repeatable ? connection.retries : 0, remainingMs },
      ),
    );
  };
}

/** A tag from a record or from the header `ETag`, in the format of the header. */
const entityTag = (tag: string): string => (/^(\*|(W\/)?".*)$/.test(tag) ? tag : `"${tag}"`);

async function sendRepeatedly<Answer>(
  connection: Connection,
  { url, request }: { url: string; request: RequestInit & { signal: AbortSignal } },
  { retries, remainingMs }: { retries: number; remainingMs: () => number },
): Promise<Answer> {
  for (let sent = 1; ; sent += 1) {
    try {
      return (await sendOnce(connection, url, request)) as Answer;
    } catch (error) {
      if (request.signal.aborted || sent > retries || !isTransient(error)) throw error;
      const delay = delayBefore(sent, error);
      if (delay >= remainingMs()) throw error;
      await pause(delay, request.signal);
    }
  }
}

/** Keeps the byte order mark of CSV, which `Response.text` removes. */
const exactText = new TextDecoder('utf-8', { ignoreBOM: true });

async function sendOnce(
  { fetch, baseUrl }: Connection,
  url: string,
  request: RequestInit & { signal: AbortSignal },
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, request);
    text = exactText.decode(await response.arrayBuffer());
  } catch (error) {
    request.signal.throwIfAborted();
    throw new ConnectionError(`${baseUrl} cannot be reached${reasonOf(error)}`, { cause: error });
  }
  if (!response.ok) throw errorOf(response, text);
  if (text === '') return undefined;
  const type = response.headers.get('content-type') ?? '';
  if (/^(text\/csv|application\/x-ndjson)\b/.test(type)) return text;
  try {
    return tagged(JSON.parse(text), response.headers.get('etag'));
  } catch {
    throw new ApiError(response.status, `The answer is not JSON: is ${baseUrl} the service?`);
  }
}

const tags = new WeakMap<object, string>();

function tagged(body: unknown, tag: string | null): unknown {
  if (tag !== null && typeof body === 'object' && body !== null) tags.set(body, tag);
  return body;
}

/**
 * The entity tag of a record as a call returned it, or of the `current` of an `ApiError`, for `ifMatch`. Undefined for
 * records in lists and for copies. All records except policies and prices also have it as `etag`.
 */
export const etagOf = (record: object): string | undefined => tags.get(record);

/** The error of a response other than 2xx, by its body. */
export function errorOf(response: Response, text: string): ApiError {
  const retryAfter = secondsOf(response.headers.get('retry-after'));
  const requestId = response.headers.get('x-request-id');
  const { current, stale, needs_sign_in: needsSignIn } = detailsIn(text);
  return new ApiError(response.status, detailOf(response, text), {
    current: tagged(current, response.headers.get('etag')),
    stale,
    needsSignIn,
    requestId: requestId ?? undefined,
    retryAfter,
  });
}

interface Details {
  current?: unknown;
  stale?: unknown;
  needs_sign_in?: NeededSignIn;
}

/** What a refusal contains besides its message. */
function detailsIn(text: string): Details {
  try {
    return (JSON.parse(text) as Details | null) ?? {};
  } catch {
    return {};
  }
}

/** The error message of the service, or else that of HTTP, because a proxy's error page does not help. */
function detailOf(response: Response, text: string): string {
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    const target = response.headers.get('location');
    return target === null ? 'Redirected' : `Redirected to ${target}`;
  }
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
    if (detail !== undefined) return JSON.stringify(detail);
  } catch {
    // Another server responded; this is handled below.
  }
  return response.statusText === '' ? `HTTP ${response.status}` : response.statusText;
}

/** `Retry-After` in seconds, from a number or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

const passing = [429, 502, 503, 504];

/** Whether a retry may succeed. A 409 says when to repeat the request if an earlier one with its key is in progress. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof ConnectionError;
  return passing.includes(error.status) || (error.status === 409 && error.retryAfter !== undefined);
}

function delayBefore(sent: number, error: unknown): number {
  if (error instanceof ApiError && error.retryAfter !== undefined) return error.retryAfter * 1000;
  // Jitter, so that clients that failed together do not retry together.
  return FIRST_DELAY_MS * 2 ** (sent - 1) * (0.5 + Math.random() / 2);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return '';
  return ` (${'code' in cause ? String(cause.code) : cause.message})`;
}

async function withDeadline<T>(
  seconds: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal, remainingMs: () => number) => Promise<T>,
): Promise<T> {
  caller?.throwIfAborted();
  const end = performance.now() + seconds * 1000;
  const controller = new AbortController();
  const give = (): void => controller.abort(caller?.reason);
  const expire = (): void => {
    const message = `No answer within ${seconds} s`;
    controller.abort(new ConnectionError(message, { timedOut: true }));
  };
  const timer = setTimeout(expire, Math.min(seconds * 1000, MAX_TIMER_MS));
  caller?.addEventListener('abort', give);
  try {
    return await work(controller.signal, () => end - performance.now());
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', give);
  }
}

/** The longest delay of a timer. Longer ones fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits for `ms`. Rejects with the signal's reason when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', give);
        resolve();
      },
      Math.min(ms, MAX_TIMER_MS),
    );
    if (signal?.aborted === true) return give();
    signal?.addEventListener('abort', give, { once: true });
  });
}

/** Replaces the parameters of a path with ids, in order. */
export function fillPath(template: string, ids: readonly (string | number)[]): string {
  let next = 0;
  return template.replace(/\{\w+\}/g, () => pathPart(ids[next++]));
}

/** Throws a TypeError for empty and dot segments: URLs drop them, which changes the path. */
function pathPart(id: unknown): string {
  const text = typeof id === 'number' ? String(id) : id;
  if (typeof text !== 'string' || /^\.{0,2}$/.test(text)) {
    throw new TypeError(`Not an id: ${JSON.stringify(id)}`);
  }
  return encodeURIComponent(text);
}

function queryString(query: object | undefined): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value != null) given.set(key, String(value));
  }
  return given.size === 0 ? '' : `?${given.toString()}`;
}

/**
 * Throws a TypeError for an invalid header value. The error omits the value, since errors are logged and keys are
 * secret.
 */
export function headerValue(name: string, value: string): string {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw new TypeError(`${name} must be printable ASCII text`);
  }
  return value;
}
