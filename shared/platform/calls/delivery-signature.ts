import { createHmac } from 'node:crypto';
import { randomText } from '../../crypto/ids.ts';

const SECRET_PREFIX = 'whsec_';
/** 240 random bits. */
const SECRET_LENGTH = 48;

export const newEndpointSecret = (): string => SECRET_PREFIX + randomText(SECRET_LENGTH);

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
