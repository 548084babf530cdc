import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/** Networks assign IPv6 prefixes of this length, so a client with one address has all addresses with its prefix. */
const IPV6_BITS = 64;

/**
 * The client that a request counts for: an IPv4 address, or the /64 network of an IPv6 address. `X-Forwarded-For` only
 * counts as far as `TRUSTED_PROXIES` have written it. Its entries may not be addresses: then the request counts for the
 * last hop that is one, if necessary the proxy itself.
 */
export function clientNetwork({ ips, ip }: Pick<FastifyRequest, 'ips' | 'ip'>): string {
  const address = ips?.findLast((hop) => isIP(hop) !== 0) ?? ip;
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  // The network also omits the zone, which names a local interface instead of the sender.
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_BITS}`).toString();
}
