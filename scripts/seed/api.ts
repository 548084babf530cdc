import type { JsonObject } from '#shared/json.ts';

/**
 * The timeout of one request, as long as the service waits for a statement, because a small machine is busy while it
 * starts.
 */
const REQUEST_TIMEOUT_MS = 30_000;

/** A running service, and the session token if it requires one. */
export interface Service {
  apiUrl: string;
  token?: string | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface RequestContent {
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  /** Parsed JSON in the shape that the caller expects; text if it is not JSON; undefined if empty. */
  body: T;
}

/** The error response of the service. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(request: string, status: number, detail: string) {
    super(`${request} answered ${status}: ${detail}`);
    this.status = status;
  }
}

/** Sends one request to the service and returns any response. Throws the error of fetch if it is unreachable. */
export async function exchange<T>(
  { apiUrl, token }: Service,
  method: Method,
  path: string,
  content: RequestContent = {},
): Promise<Answer<T>> {
  const { body, headers } = content;
  const response = await fetch(new URL(path, apiUrl), {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) as T };
}

/** Like `exchange`, for requests that must succeed. Throws Refusal for anything but a 2xx. */
export async function call<T>(
  service: Service,
  method: Method,
  path: string,
  content: RequestContent = {},
): Promise<Answer<T>> {
  const answer = await exchange<T>(service, method, path, content);
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new Refusal(`${method} ${path}`, answer.status, detailOf(answer.body));
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not from the service itself, but for example from a proxy.
    return text;
  }
}

function detailOf(body: unknown): string {
  const { detail } = (typeof body === 'object' && body !== null ? body : {}) as JsonObject;
  return typeof detail === 'string' ? detail : String(body).slice(0, 200);
}
