import type { OutboundEventType } from '#shared/contract/data/outbound.ts';
import {
  bodyOf,
  DELIVERY_TIMEOUT_MS,
  type DeliveredEvent,
  deliveryHeaders,
} from '#shared/webhooks/delivery-request.ts';
import { type Egress, EgressError, findEgressError } from '#shared/platform/egress/egress.ts';
import { isSuccess, retryAfterOf } from './outside.ts';

/** The maximum size of the response; the rest is not read. */
const MAX_ANSWER_BYTES = 20_000;
const EXCERPT_CHARACTERS = 500;

export interface DeliveryPost extends DeliveredEvent {
  url: string;
  deliveryId: string;
  /** All of them sign, the current one first. */
  secrets: readonly string[];
  type: OutboundEventType;
  signal: AbortSignal;
}

/** The result. Without `error`, the event was delivered. */
export type PostOutcome =
  | { fault: false; status: number | null; error?: string; retryAfterMs?: number }
  /** This machine could not send the request, or interrupted it. */
  | { fault: true; status: null; error: string; retryAfterMs?: undefined };

/**
 * Sends a delivery once. Never rejects. Any 2xx whose response ends in time is a success. Redirects are not followed.
 */
export async function postDelivery(egress: Egress, post: DeliveryPost): Promise<PostOutcome> {
  const body = new TextEncoder().encode(bodyOf(post));
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    const text = `No full response within ${DELIVERY_TIMEOUT_MS / 1000} s`;
    timeout.abort(new EgressError('timeout', text));
  }, DELIVERY_TIMEOUT_MS);
  try {
    const response = await egress.fetch(post.url, {
      method: 'POST',
      headers: await deliveryHeaders(body, post),
      body,
      signal: AbortSignal.any([timeout.signal, post.signal]),
    });
    return outcomeOf(response, await beginningOf(response));
  } catch (error) {
    if (post.signal.aborted) return fault('This worker stopped while it was sending');
    if (isOwnFault(error)) return fault('This service could not open a connection');
    const known = findEgressError(error);
    return { fault: false, status: null, error: known?.message ?? 'The request was interrupted' };
  } finally {
    clearTimeout(timer);
  }
}

const fault = (error: string): PostOutcome => ({ fault: true, status: null, error });

function outcomeOf({ status, headers }: Response, beginning: string): PostOutcome {
  if (isSuccess(status)) return { fault: false, status };
  const excerpt = beginning.slice(0, EXCERPT_CHARACTERS).trim().replaceAll('\0', '\ufffd');
  const error = `Responded with ${status}${excerpt === '' ? '' : `: ${excerpt}`}`.toWellFormed();
  return { fault: false, status, error, retryAfterMs: retryAfterOf(headers.get('retry-after')) };
}

async function beginningOf(response: Response): Promise<string> {
  const body = response.body as ReadableStream<Uint8Array> | null;
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body.getReader();
  while (bytes < MAX_ANSWER_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.byteLength;
  }
  await reader.cancel();
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}

/** Local errors before anything was sent: no route, no free port, no free file. */
const OWN_FAULTS: ReadonlySet<unknown> = new Set([
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENETDOWN',
  'ENETUNREACH',
  'ENFILE',
  'ENOBUFS',
]);

function isOwnFault(error: unknown): boolean {
  let cause: unknown = error;
  for (let depth = 0; depth < 8 && cause !== null && typeof cause === 'object'; depth += 1) {
    if (OWN_FAULTS.has((cause as { code?: unknown }).code)) return true;
    cause = (cause as { cause?: unknown }).cause;
  }
  return false;
}
