import ipaddr from 'ipaddr.js';
import { type Address, createAddressRanges, parseAddress } from './address-ranges.ts';

/** Whether a connection to this IP address (dotted or colon notation, optionally with a zone id) is allowed. */
export type AddressPolicy = (address: string) => boolean;

/** All addresses of a name, in order of preference. Tests replace it with a hostile DNS. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Azure's host channel: an address in a public range that leads to the machine itself. */
const WIRE_SERVER = '168.63.129.16';

/** 2000::/3, the only range in use for the public internet. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');

/** Allows public addresses, and those in `allow` (addresses or CIDRs). Throws on an invalid entry. */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const isAllowed = createAddressRanges(allow);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && (isPublic(address) || isAllowed(text));
  };
}

/** The canonical form of an address: `::ffff:10.0.0.1` becomes `10.0.0.1`. Undefined for an invalid address. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && address.toString() !== WIRE_SERVER;
  }
  const carried = carriedAddress(address);
  if (carried !== undefined) return isPublic(carried);
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

/** The IPv4 address that a translating IPv6 address leads to. Networks with NAT64 reach all of IPv4 this way. */
function carriedAddress(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  if (address.match(SIX_TO_FOUR)) return new ipaddr.IPv4(bytes.slice(2, 6));
  return undefined;
}
