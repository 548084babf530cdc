import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createAddressRanges } from './address-ranges.ts';

const isLoopback = createAddressRanges(['127.0.0.0/8', '::1']);

/** A host that no DNS can redirect: an IP address, or this machine by its own name. */
export const isAddress = (hostname: string): boolean =>
  hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

/** A name that no external party can own: an address, this machine, or a name without a dot, as containers have. */
const isLocalName = (hostname: string): boolean =>
  isAddress(hostname) || hostname.endsWith('.localhost') || !hostname.includes('.');

/**
 * Whether a Host header is a name of this service. A web page can point its own name at this machine (DNS rebinding)
 * and then counts as the same origin, so endpoints without a credential only respond under names that no other party
 * can own, and under `publicUrl`.
 */
export function isKnownHost(host: string | undefined, publicUrl: string): boolean {
  if (host === undefined || host === URL.parse(publicUrl)?.host) return true;
  const url = URL.parse(`http://${host}`);
  return url !== null && isLocalName(url.hostname);
}

/**
 * Whether a request from this machine used a foreign name, like a browser whose page points its own name here. For
 * endpoints with access by network; scrapers on other machines can use any name.
 */
export function isRebound(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  publicUrl: string,
): boolean {
  return isLoopback(socket.remoteAddress ?? '') && !isKnownHost(headers.host, publicUrl);
}
