import { EgressError } from './error.ts';

/** Headers about message framing or the connection. Only the HTTP client may set them. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of the service's signed deliveries. A tenant who could set them could forge or replay one. */
const OURS = /^(x-service-|webhook-(id|timestamp|signature)$)/;

/**
 * The only headers that are sent to another origin after a redirect. It is an allowlist, since credentials can have any
 * name.
 */
const ORIGIN_NEUTRAL: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Rejects headers that could split a message or control the connection. Throws EgressError with the header's name. */
export function checkFramingHeaders(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) {
      throw refused(`Header name ${JSON.stringify(name.slice(0, 100))} is not valid`);
    }
    if (FRAMING.has(name.toLowerCase())) throw refused(`Header '${name}' cannot be set`);
    if (!VALUE.test(value)) {
      throw refused(`The value of header '${name}' contains characters that cannot be sent`);
    }
  }
  return headers;
}

/**
 * Like `checkFramingHeaders`, for a tenant's headers, which must also not look like the service's signature. Throws
 * EgressError.
 */
export function checkUserHeaders(headers: Record<string, string>): Record<string, string> {
  for (const name of Object.keys(headers)) {
    if (OURS.test(name.toLowerCase())) throw refused(`Header '${name}' cannot be set`);
  }
  return checkFramingHeaders(headers);
}

export const keptAcrossOrigins = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => ORIGIN_NEUTRAL.has(name.toLowerCase())),
  );

const refused = (message: string): EgressError => new EgressError('invalid_request', message);
