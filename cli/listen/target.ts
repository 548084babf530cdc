import type { WebhookEndpointEvent } from '#client/index.ts';
import { DELIVERY_TIMEOUT_MS, deliveryHeaders } from '#shared/webhooks/delivery-request.ts';
import { misuse } from '#cli/endings.ts';

/** What a receiver answered. Without `error`, it accepted the event. */
export interface Outcome {
  /** The HTTP status; null without a response. */
  status: number | null;
  duration_ms: number;
  error: string | null;
}

const EXCERPT_CHARACTERS = 200;

/** The address in `--forward-to`; `localhost:3000/hook` is one with http. Throws Ending. */
export function targetOf(text: string): URL {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw misuse(`--forward-to '${text}' is not an address such as http://localhost:3000/hook`);
  }
  return url;
}

/**
 * Sends an event once, with the body and the headers of a delivery, signed with `secret`. As for deliveries, only a 2xx
 * within 15 seconds counts, and redirects are not followed. Throws only if `signal` is aborted.
 */
export async function forward(
  event: WebhookEndpointEvent,
  { target, secret, signal }: { target: URL; secret: string; signal: AbortSignal },
): Promise<Outcome> {
  const body = new TextEncoder().encode(event.body);
  const { delivery_id: deliveryId, event_id, type } = event;
  const headers = await deliveryHeaders(body, { deliveryId, event_id, type, secrets: [secret] });
  const timeout = AbortSignal.timeout(DELIVERY_TIMEOUT_MS);
  const began = performance.now();
  const ended = (status: number | null, error: string | null): Outcome => ({
    status,
    duration_ms: Math.round(performance.now() - began),
    error,
  });
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    const text = (await response.text()).slice(0, EXCERPT_CHARACTERS).trim();
    if (response.ok) return ended(response.status, null);
    return ended(response.status, text === '' ? `Responded with ${response.status}` : text);
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) {
      return ended(null, `No full response within ${DELIVERY_TIMEOUT_MS / 1000} s`);
    }
    return ended(null, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause ? String(cause.code) : cause.message;
}
