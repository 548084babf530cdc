// What a receiver of webhooks gets: the body and the headers. Workers and `ops listen` send the same.

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const USER_AGENT = 'durable-workflows-webhooks/1';

/** From the first byte sent to the last byte of the response. */
export const DELIVERY_TIMEOUT_MS = 15_000;

const encoder = new TextEncoder();
type Bytes = Uint8Array<ArrayBuffer>;

/** As in Standard Webhooks: random bytes in base64 after a prefix. */
export const newEndpointSecret = (): string =>
  SECRET_PREFIX +
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))));

/** The stored event of a delivery. */
export interface DeliveredEvent {
  event_id: string;
  type: string;
  created_at: string;
  /** JSON text. */
  data: string;
}

/** The bytes are the same in every attempt, because receivers may compare them. */
export function bodyOf({ event_id: id, type, created_at, data }: DeliveredEvent): string {
  return `${JSON.stringify({ id, type, created_at }).slice(0, -1)},"data":${data}}`;
}

/** What the headers say about a request. */
export interface SignedDelivery {
  deliveryId: string;
  event_id: string;
  type: string;
  /** All of them sign, the current one first. */
  secrets: readonly string[];
}

/** All headers of a delivery. `body` is what is sent. */
export async function deliveryHeaders(
  body: Bytes,
  { deliveryId, event_id, type, secrets }: SignedDelivery,
): Promise<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'x-service-delivery': deliveryId,
    'x-service-event': type,
    'x-service-signature': await signDelivery(body, secrets),
    ...(await standardHeaders(event_id, body, secrets)),
  };
}

/**
 * The headers of Standard Webhooks (https://www.standardwebhooks.com), with a signature for each secret. The key is the
 * decoded base64 text after the prefix. Secrets of earlier releases are 48 letters and digits, which are also base64.
 * `id` identifies the event; `now` is in ms since 1970.
 */
export async function standardHeaders(
  id: string,
  body: Bytes,
  secrets: readonly string[],
  now = Date.now(),
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const at = String(Math.floor(now / 1000));
  const signatures = secrets.map(async (secret) => {
    const mac = await hmac(fromBase64(secret.slice(SECRET_PREFIX.length)), `${id}.${at}.`, body);
    return `v1,${btoa(String.fromCharCode(...mac))}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  };
}

/**
 * The header `X-Service-Signature` of a delivery: when it was signed, in seconds since 1970, and for each secret the
 * HMAC-SHA256 of `<t>.` and the raw body, keyed by the whole secret.
 */
export async function signDelivery(
  body: Bytes,
  secrets: readonly string[],
  now = Date.now(),
): Promise<string> {
  const at = Math.floor(now / 1000);
  const signatures = secrets.map(async (secret) => {
    const mac = await hmac(encoder.encode(secret), `${at}.`, body);
    return `v1=${[...mac].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  });
  return [`t=${at}`, ...(await Promise.all(signatures))].join(',');
}

/** HMAC-SHA256 of `<before><body>`. */
async function hmac(secret: Bytes, before: string, body: Bytes): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
  const start = encoder.encode(before);
  const text = new Uint8Array(start.length + body.length);
  text.set(start);
  text.set(body, start.length);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, text));
}

const fromBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
