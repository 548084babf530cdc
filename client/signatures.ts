import { SignatureError } from './errors.ts';

const encoder = new TextEncoder();

export interface Delivery {
  /** The endpoint's signing secret, `whsec_...`. */
  secret: string;
  /** The header `X-Service-Signature`. */
  signature: string | null | undefined;
  /** The raw body, before parsing. */
  body: string | Uint8Array;
  /** Maximum difference between its time and `now`, in seconds. Default: 300. */
  tolerance?: number;
  /** Unix seconds. Default: the current time. */
  now?: number;
}

export interface WebhookEvent {
  id: string;
  type: string;
  created_at: string;
  data: Record<string, unknown>;
}

/**
 * Checks a delivery of an outbound webhook and returns its event. The header is `t=<unix seconds>,v1=<hex>`, where v1
 * is the HMAC-SHA256 of `<t>.<body>` under the secret; during a rotation there are two v1, and one must match. Throws a
 * `SignatureError`.
 */
export async function verifyWebhook({
  secret,
  signature,
  body,
  tolerance = 300,
  now = Date.now() / 1000,
}: Delivery): Promise<WebhookEvent> {
  const { time, candidates } = parseHeader(signature);
  const expected = await hmac(secret, time, body);
  // Compares every candidate in full, so that the time does not reveal the expected signature.
  const right = candidates.map((candidate) => sameBytes(candidate, expected));
  if (!right.includes(true)) throw new SignatureError('The signature does not fit the body');
  if (!(Math.abs(now - Number(time)) <= tolerance)) {
    throw new SignatureError(`The delivery was signed more than ${tolerance} s from now`);
  }
  return parseEvent(body);
}

export interface InboundEvent {
  /** The last part of the webhook's URL. */
  secret: string;
  /** The exact body to send. */
  body: string | Uint8Array;
  /** Unix seconds. Default: the current time. */
  timestamp?: number;
}

/** The headers that an inbound webhook with `require_signature` requires. */
export async function signInboundWebhook({
  secret,
  body,
  timestamp = Math.floor(Date.now() / 1000),
}: InboundEvent): Promise<{ 'X-Service-Timestamp': string; 'X-Service-Signature': string }> {
  const mac = await hmac(secret, String(timestamp), body);
  return {
    'X-Service-Timestamp': String(timestamp),
    'X-Service-Signature': `sha256=${toHex(mac)}`,
  };
}

/** HMAC-SHA256 of `<time>.<body>`. */
async function hmac(secret: string, time: string, body: string | Uint8Array): Promise<Uint8Array> {
  if (secret === '') throw new TypeError('An empty secret protects nothing');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, [
    'sign',
  ]);
  const begin = encoder.encode(`${time}.`);
  const rest = typeof body === 'string' ? encoder.encode(body) : body;
  const text = new Uint8Array(begin.length + rest.length);
  text.set(begin);
  text.set(rest, begin.length);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, text));
}

function parseHeader(header: string | null | undefined): {
  time: string;
  candidates: Uint8Array[];
} {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const valuesOf = (name: string): string[] =>
    parts.flatMap(([key, value, ...rest]) =>
      key === name && value !== undefined && rest.length === 0 ? [value] : [],
    );
  const [time, ...otherTimes] = valuesOf('t');
  const candidates = valuesOf('v1').filter((value) => /^[0-9a-f]{64}$/.test(value));
  if (time === undefined || otherTimes.length > 0 || !/^\d{1,12}$/.test(time)) {
    throw new SignatureError('The signature has no time');
  }
  if (candidates.length === 0) throw new SignatureError('The signature is missing or malformed');
  return { time, candidates: candidates.map(fromHex) };
}

function parseEvent(body: string | Uint8Array): WebhookEvent {
  try {
    return JSON.parse(
      typeof body === 'string' ? body : new TextDecoder().decode(body),
    ) as WebhookEvent;
  } catch (error) {
    throw new SignatureError('The body is signed, but not JSON', { cause: error });
  }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  one.forEach((byte, index) => (difference |= byte ^ (other[index] ?? 0)));
  return difference === 0;
}

const toHex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
