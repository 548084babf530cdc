import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SignatureMark } from '#shared/db/inbound/webhooks.ts';
import type { RefusalReason } from '#shared/contract/inbound/inbound-event.ts';
import { AppError } from '#shared/errors.ts';

const TIMESTAMP = /^(?:0|[1-9]\d{0,11})$/;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** An event that is not signed as required, with the reason for the log. */
export class SignatureRefusal extends AppError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, detail: string) {
    super('unauthenticated', detail);
    this.reason = reason;
  }
}

/** Compares texts of the same length in constant time. */
export const isSameSecret = (given: string, kept: string): boolean =>
  timingSafeEqual(Buffer.from(given), Buffer.from(kept));

/**
 * Throws SignatureRefusal unless `X-Service-Signature` is `sha256=` and the HMAC-SHA256, in 64 lower-case hexadecimal
 * digits, of `<timestamp>.` and the body, byte for byte, and `X-Service-Timestamp` is within the tolerance of `now`,
 * both in seconds since 1970. If a header is repeated, it is ambiguous which value was signed: Node joins the two with
 * a comma, which no pattern accepts.
 */
export function checkSignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  by: { secret: string; toleranceSeconds: number; now: number },
): void {
  const timestamp = String(headers['x-service-timestamp']);
  const signature = SIGNATURE.exec(String(headers['x-service-signature']))?.[1];
  if (!TIMESTAMP.test(timestamp)) {
    throw new SignatureRefusal('timestamp_missing', 'X-Service-Timestamp is missing or malformed');
  }
  if (signature === undefined) {
    throw new SignatureRefusal('signature_missing', 'X-Service-Signature is missing or malformed');
  }
  if (Math.abs(by.now - Number(timestamp)) > by.toleranceSeconds) {
    throw new SignatureRefusal('timestamp_expired', 'X-Service-Timestamp is too far from now');
  }
  const expected = createHmac('sha256', by.secret).update(`${timestamp}.`).update(body);
  if (!isSameSecret(signature, expected.digest('hex'))) {
    throw new SignatureRefusal('signature_mismatch', 'X-Service-Signature does not match');
  }
}

/** The mark that identifies a signature, valid or not; undefined when the headers contain none. */
export function markOf(headers: IncomingHttpHeaders): SignatureMark | undefined {
  const timestamp = String(headers['x-service-timestamp']);
  const signature = SIGNATURE.exec(String(headers['x-service-signature']))?.[1];
  if (signature === undefined || !TIMESTAMP.test(timestamp)) return undefined;
  return { hash: createHash('sha256').update(signature).digest(), signedAt: Number(timestamp) };
}
