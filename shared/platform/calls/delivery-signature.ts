import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** As in Standard Webhooks: random bytes in base64 after a prefix. */
export const newEndpointSecret = (): string =>
  SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/**
 * The headers of Standard Webhooks (https://www.standardwebhooks.com), with a signature for each secret. The key is the
 * decoded base64 text after the prefix. Secrets of earlier releases are 48 letters and digits, which are also base64.
 * `id` identifies the event; `now` is in ms since 1970.
 */
export function standardHeaders(
  id: string,
  body: Buffer,
  secrets: readonly string[],
  now = Date.now(),
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const at = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const hmac = createHmac('sha256', key).update(`${id}.${at}.`).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': signatures.join(' '),
  };
}

/**
 * The header `X-Service-Signature` of a delivery: when it was signed, in seconds since 1970, and for each secret the
 * HMAC-SHA256 of `<t>.` and the raw body, keyed by the whole secret.
 */
export function signDelivery(body: Buffer, secrets: readonly string[], now = Date.now()): string {
  const at = Math.floor(now / 1000);
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${at}.`).update(body);
    return `v1=${hmac.digest('hex')}`;
  });
  return [`t=${at}`, ...signatures].join(',');
}
