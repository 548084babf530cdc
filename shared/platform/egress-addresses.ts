import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Says whether a connection to this IP address (dotted or colon text, a zone id allowed) may be opened. */
export type AddressPolicy = (address: string) => boolean;

/** Azure's host channel: a public-looking address that answers for the machine itself. */
const WIRE_SERVER = '168.63.129.16';

/** 2000::/3, all that has ever been given out for the public internet. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');

/**
 * Public addresses pass, and besides them whatever lies in `allow` (addresses or CIDRs).
 * Throws on an entry that is neither.
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const ranges = allow.map(parseRange);
  return (text) => {
    const address = parseAddress(text);
    return (
      address !== undefined &&
      (isPublic(address) || ranges.some((range) => contains(range, address)))
    );
  };
}

/** One spelling per address: `::ffff:10.0.0.1` is `10.0.0.1`. Undefined for what is not an address. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

function parseAddress(text: string): Address | undefined {
  // Only the four-part decimal form: what resolvers and URL parsers hand out. ipaddr.js alone would take 0x7f.1.
  const valid = text.includes(':')
    ? ipaddr.IPv6.isValid(text)
    : ipaddr.IPv4.isValidFourPartDecimal(text);
  return valid ? ipaddr.process(text) : undefined;
}

function parseRange(text: string): [Address, number] {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), undefined];
  const length = bits ?? (address.kind() === 'ipv4' ? 32 : 128);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= 96) {
    return [address.toIPv4Address(), length - 96];
  }
  return [address, length];
}

function contains([network, bits]: [Address, number], address: Address): boolean {
  if (network instanceof ipaddr.IPv4 && address instanceof ipaddr.IPv4) {
    return address.match(network, bits);
  }
  if (network instanceof ipaddr.IPv6 && address instanceof ipaddr.IPv6) {
    return address.match(network, bits);
  }
  return false;
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
