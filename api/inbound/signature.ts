import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SignatureMark } from '../../shared/db/workflows/webhooks.ts';
import { AppError } from '../../shared/errors.ts';

const TIMESTAMP = /^(?:0|[1-9]\d{0,11})$/;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

const refused = (detail: string) => new AppError('unauthenticated', detail);

/** Compares texts of the same length in constant time. */
export const isSameSecret = (given: string, kept: string): boolean =>
  timingSafeEqual(Buffer.from(given), Buffer.from(kept));

/**
 * Throws AppError `unauthenticated` unless `X-Service-Signature` is `sha256=` and the HMAC-SHA256, in 64 lower-case
 * hexadecimal digits, of `<timestamp>.` and the body, byte for byte, and `X-Service-Timestamp` is within the tolerance
 * of `now`, both in seconds since 1970. It is ambiguous which value of a repeated header was signed: Node joins the two
 * with a comma, which no pattern accepts.
 */
export function checkSignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  by: { secret: string; toleranceSeconds: number; now: number },
): void {
  const timestamp = String(headers['x-service-timestamp']);
  const signature = SIGNATURE.exec(String(headers['x-service-signature']))?.[1];
  if (!TIMESTAMP.test(timestamp)) {
    throw refused('X-Service-Timestamp is missing or malformed');
  }
  if (signature === undefined) {
    throw refused('X-Service-Signature is missing or malformed');
  }
  if (Math.abs(by.now - Number(timestamp)) > by.toleranceSeconds) {
    throw refused('X-Service-Timestamp is too far from now');
  }
  const expected = createHmac('sha256', by.secret).update(`${timestamp}.`).update(body);
  if (!isSameSecret(signature, expected.digest('hex'))) {
    throw refused('X-Service-Signature does not match');
  }
}

/** The mark that identifies a signature, valid or not; undefined when the headers hold none. */
export function markOf(headers: IncomingHttpHeaders): SignatureMark | undefined {
  const timestamp = String(headers['x-service-timestamp']);
  const signature = SIGNATURE.exec(String(headers['x-service-signature']))?.[1];
  if (signature === undefined || !TIMESTAMP.test(timestamp)) return undefined;
  return { hash: createHash('sha256').update(signature).digest(), signedAt: Number(timestamp) };
}
