import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createAddressRanges } from './address-ranges.ts';

const isLoopback = createAddressRanges(['127.0.0.0/8', '::1']);

/** A host that nobody can point anywhere else: an IP address, or this machine by its own name. */
export const isAddress = (hostname: string): boolean =>
  hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

/** A name that nobody outside can own: an address, this machine, or one without a dot, as containers have. */
const isLocalName = (hostname: string): boolean =>
  isAddress(hostname) || hostname.endsWith('.localhost') || !hostname.includes('.');

/**
 * Whether a Host header names this service. A page can have its own name pointed at this machine (DNS rebinding) and
 * then counts as the same origin, so what needs no credential is answered only under names that nobody else can own,
 * and under `publicUrl`.
 */
export function isKnownHost(host: string | undefined, publicUrl: string): boolean {
  if (host === undefined || host === URL.parse(publicUrl)?.host) return true;
  const url = URL.parse(`http://${host}`);
  return url !== null && isLocalName(url.hostname);
}

/**
 * Whether a request from this machine itself came under a foreign name, as a browser's does whose page had its name
 * pointed here. For what is served by place in the network; scrapers elsewhere use whatever name they know.
 */
export function isRebound(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  publicUrl: string,
): boolean {
  return isLoopback(socket.remoteAddress ?? '') && !isKnownHost(headers.host, publicUrl);
}
