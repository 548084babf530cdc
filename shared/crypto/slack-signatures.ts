import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** How old a request can be, and how far ahead the sender's clock. */
const TOLERANCE_SECONDS = 300;

/** Signs for no one, so that a request of an unknown team takes as long as others. */
const DECOY = randomBytes(32).toString('hex');

/** The headers of a request, and its bytes. */
export interface SignedRequest {
  timestamp: string;
  signature: string;
  body: Buffer;
}

/**
 * The signature of a request in bytes, if it is signed with this secret (v0: HMAC-SHA256 of `v0:<timestamp>:<body>`) and at most
 * five minutes old. Undefined otherwise, and always without a secret. `now` is in seconds.
 */
export function slackSignature(
  { timestamp, signature, body }: SignedRequest,
  secret: string | undefined,
  now: number,
): Buffer | undefined {
  const expected = createHmac('sha256', secret ?? DECOY)
    .update(`v0:${timestamp}:`)
    .update(body)
    .digest();
  const digits = /^v0=([0-9a-f]{64})$/.exec(signature)?.[1] ?? '0'.repeat(64);
  const isSame = timingSafeEqual(Buffer.from(digits, 'hex'), expected);
  const isRecent =
    /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp)) <= TOLERANCE_SECONDS;
  return isSame && isRecent && secret !== undefined ? expected : undefined;
}
