import { isIP } from 'node:net';
import { Agent, fetch as undiciFetch, type RequestInit as UndiciRequestInit } from 'undici';
import { type AddressPolicy, createAddressPolicy, type ResolveHost } from './addresses.ts';
import { requestRefusal } from './effects.ts';
import { type BodyLimits, boundedStream, type Bytes, readBounded } from './body.ts';
import {
  createGuardedConnector,
  type Guard,
  judgeHost,
  portOf,
  refusal,
  resolveWithSystem,
  withTimeout,
} from './connector.ts';
import { EgressError, exchangeError, hostOf } from './error.ts';
import { checkFramingHeaders, keptAcrossOrigins } from './headers.ts';
import { createOwnServices, type ServiceAddress } from './own.ts';

export { EgressError, findEgressError } from './error.ts';
export { checkUserHeaders } from './headers.ts';

export interface EgressOptions {
  /** Addresses or CIDRs allowed besides the public internet. */
  allow: readonly string[];
  /** Servers of this installation, always refused, even in `allow`. */
  own?: readonly ServiceAddress[];
  resolve?: ResolveHost;
  /** Name resolution, TCP and TLS together. */
  connectTimeoutMs?: number;
  /** The timeout of one `fetch` until its body ends. High, since models may need minutes. */
  fetchTimeoutMs?: number;
  fetchMaxResponseBytes?: number;
  /** Called with every failure and its cause, for logging: callers do not see the cause. */
  onFailure?: (error: EgressError) => void;
}

interface EgressRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** From the first byte sent to the last byte read, including redirects. */
  timeoutMs?: number;
  /** Counted after decompression. */
  maxResponseBytes?: number;
  signal?: AbortSignal;
  /** How many redirects to follow; with the default 0, a 3xx is the response. */
  maxRedirects?: number;
  /** Called before each exchange. */
  check?: RequestCheck;
}

/** Throws EgressError to refuse a message. `from` is the URL that redirected to it. */
export type RequestCheck = (message: Omit<Message, 'method'>, from?: URL) => void | Promise<void>;

export interface EgressResponse {
  status: number;
  /** Lower-case names; repeated headers are joined with `, `. */
  headers: Record<string, string>;
  body: Buffer;
  /** The final URL, after redirects. */
  url: string;
}

/**
 * The only way to send requests. `fetch` and `request` throw EgressError for refusals of the guard and network
 * failures, and the signal's reason when the caller aborts.
 */
export interface Egress {
  /** Standard fetch for SDKs. Never follows redirects; ignores `init.redirect`. */
  fetch: typeof globalThis.fetch;
  request: (url: string | URL, options?: EgressRequest) => Promise<EgressResponse>;
  /**
   * Why requests to this URL would be refused now: because of its form, or because its name resolves to an address that
   * is not allowed. A name that does not resolve passes, since every request is checked again.
   */
  refuses: (url: string | URL) => Promise<EgressError | undefined>;
  /** Aborts requests in progress and closes idle connections. */
  close: () => Promise<void>;
}

const DEFAULT_REQUEST_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RESPONSE_BYTES = 5 * 1024 * 1024;
const MAX_CONNECTIONS_PER_ORIGIN = 256;
const USER_AGENT = 'durable-workflows';

/** What all calls of an egress share. */
interface Outlet {
  agent: Agent;
  guard: Guard;
  /** Reports errors of the guard or the network to `onFailure`. */
  report: (error: unknown) => void;
}

/** A request in flight, which a redirect may change. */
interface Message {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

export function createEgress(options: EgressOptions): Egress {
  const resolve = options.resolve ?? resolveWithSystem;
  const guard: Guard = {
    allowed: createAddressPolicy(options.allow),
    resolve,
    own: createOwnServices(options.own ?? [], resolve),
  };
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const agent = new Agent({
    connect: createGuardedConnector(guard, connectTimeoutMs),
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    // Deadlines are set per call and cover the whole call.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const report = (error: unknown): void => {
    if (error instanceof EgressError) options.onFailure?.(error);
  };
  const outlet: Outlet = { agent, guard, report };
  return {
    fetch: (input, init) => guardedFetch(outlet, options, input, init),
    request: (url, wanted) => request(outlet, url, wanted),
    refuses: (url) => refuses(guard, url, connectTimeoutMs),
    close: () => agent.destroy(),
  };
}

/** One exchange with one server. The URL object that is checked is also the one that is sent. */
async function exchange(
  { agent, guard }: Outlet,
  url: URL,
  init: UndiciRequestInit,
  limits: BodyLimits,
) {
  const refused = requestRefusal((init.method ?? 'GET').toUpperCase());
  if (refused !== undefined) throw new EgressError('refused', refused);
  checkTarget(url, guard.allowed);
  const headers = new Headers(init.headers);
  if (!headers.has('user-agent')) headers.set('user-agent', USER_AGENT);
  try {
    const response = await undiciFetch(url, {
      ...init,
      headers: [...headers],
      redirect: 'manual',
      signal: limits.signal,
      dispatcher: agent,
    });
    if (response.status <= 599) return response;
    // A Response object cannot hold such a status, and no caller could use it.
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  } catch (error) {
    throw limits.signal.aborted ? limits.signal.reason : exchangeError(error, url);
  }
}

/** `fetch` for SDKs. Its deadline and limits apply until the body has been read. */
async function guardedFetch(
  outlet: Outlet,
  options: EgressOptions,
  ...[input, init]: Parameters<typeof globalThis.fetch>
): Promise<Response> {
  const { url, ...rest } = await flattenFetchInput(input, init);
  const deadline = createDeadline(url, options.fetchTimeoutMs ?? 600_000, rest.signal ?? undefined);
  const limits: BodyLimits = {
    url,
    signal: deadline.signal,
    maxBytes: options.fetchMaxResponseBytes ?? 32 * 1024 * 1024,
    onEnd: deadline.clear,
    onError: outlet.report,
  };
  try {
    const response = await exchange(outlet, url, rest as UndiciRequestInit, limits);
    const headers = [...response.headers];
    if (response.body === null) deadline.clear();
    const body = response.body === null ? null : boundedStream(response.body as Bytes, limits);
    return new Response(body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  } catch (error) {
    deadline.clear();
    outlet.report(error);
    throw error;
  }
}

/** Sends a request, follows redirects as far as the caller allows, and reads the whole response. */
async function request(
  outlet: Outlet,
  input: string | URL,
  wanted: EgressRequest = {},
): Promise<EgressResponse> {
  let message: Message = {
    url: parseTarget(input),
    method: (wanted.method ?? 'GET').toUpperCase(),
    body: wanted.body,
    headers: checkFramingHeaders(wanted.headers ?? {}),
  };
  const timeoutMs = wanted.timeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
  const deadline = createDeadline(message.url, timeoutMs, wanted.signal);
  try {
    await wanted.check?.(message);
    for (let left = wanted.maxRedirects ?? 0; ; left -= 1) {
      const { url, method, headers, body } = message;
      const limits: BodyLimits = {
        url,
        signal: deadline.signal,
        maxBytes: wanted.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      };
      const response = await exchange(outlet, url, { method, headers, body: body ?? null }, limits);
      const next = wanted.maxRedirects
        ? redirectTarget(response.status, response.headers, url)
        : undefined;
      if (next === undefined) {
        return {
          status: response.status,
          headers: joinedHeaders(response.headers),
          body:
            response.body === null
              ? Buffer.alloc(0)
              : await readBounded(response.body as Bytes, limits),
          url: url.href,
        };
      }
      await response.body?.cancel();
      if (left === 0) {
        throw new EgressError('too_many_redirects', `'${hostOf(url)}' redirects too often`);
      }
      message = redirected(message, response.status, next);
      await wanted.check?.(message, url);
    }
  } catch (error) {
    outlet.report(error);
    throw error;
  } finally {
    deadline.clear();
  }
}

/**
 * The request to the target of a redirect. A change of method drops the body; a change of origin drops most headers.
 */
function redirected(message: Message, status: number, next: URL): Message {
  let { method, body, headers } = message;
  if (dropsBody(status, method)) {
    method = method === 'HEAD' ? 'HEAD' : 'GET';
    body = undefined;
    headers = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !/^content-/i.test(name)),
    );
  }
  if (next.origin !== message.url.origin) headers = keptAcrossOrigins(headers);
  return { url: next, method, body, headers };
}

async function refuses(
  guard: Guard,
  input: string | URL,
  timeoutMs: number,
): Promise<EgressError | undefined> {
  try {
    const url = parseTarget(input);
    checkTarget(url, guard.allowed);
    const judging = judgeHost(url.hostname, portOf(url), guard);
    await withTimeout(judging, timeoutMs, () => new Error('not resolved in time'));
  } catch (error) {
    if (error instanceof EgressError && error.code !== 'unreachable') return error;
  }
  return undefined;
}

function parseTarget(input: string | URL): URL {
  const url = URL.parse(String(input));
  if (url === null) throw new EgressError('invalid_request', 'The URL is not valid');
  return url;
}

function checkTarget(url: URL, allowed: AddressPolicy): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EgressError('invalid_request', 'The URL must start with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('invalid_request', 'The URL must not contain a user name or password');
  }
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare) && !allowed(bare)) throw refusal(bare);
}

/** Only set-cookie can occur more than once in a Headers object. */
function joinedHeaders(headers: Iterable<[string, string]>): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of headers) {
    const earlier = joined.get(name);
    joined.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(joined);
}

/** fetch's two arguments as one, with a body that can be sent with its length. */
async function flattenFetchInput(
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit | undefined,
): Promise<Omit<RequestInit, 'body'> & { url: URL; body?: unknown }> {
  if (!(input instanceof Request)) return { ...init, url: parseTarget(input) };
  const request = new Request(input, init);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  const { method, signal } = request;
  return { url: parseTarget(request.url), method, headers: [...request.headers], signal, body };
}

function redirectTarget(
  status: number,
  headers: { get(name: string): string | null },
  from: URL,
): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const location = headers.get('location');
  if (location === null) return undefined;
  const target = URL.parse(location, from.href);
  if (target === null) {
    throw new EgressError('invalid_request', `'${hostOf(from)}' redirects to an invalid URL`);
  }
  return target;
}

/** The fetch standard's rule: a 303 always becomes a GET; for POST, a 301 or 302 does, too. */
const dropsBody = (status: number, method: string): boolean =>
  (status === 303 && method !== 'GET' && method !== 'HEAD') ||
  ((status === 301 || status === 302) && method === 'POST');

/** A signal that aborts with the caller's signal or at the timeout. Call `clear` after the exchange. */
function createDeadline(url: URL, timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer?.reason);
  const timer = setTimeout(() => {
    const text = `'${hostOf(url)}' did not respond in full within ${timeoutMs / 1000} s`;
    controller.abort(new EgressError('timeout', text));
  }, timeoutMs);
  timer.unref();
  if (outer?.aborted) onAbort();
  else outer?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    clear: (): void => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
}
