import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Whether an IP address (dotted or colon notation, optionally with a zone id) is in one of the ranges. */
export type AddressRanges = (address: string) => boolean;

/**
 * The ranges of `entries` (addresses or CIDRs). An IPv4 address equals its IPv6-mapped form. An invalid address is in
 * no range. Throws on an invalid entry.
 */
export function createAddressRanges(entries: readonly string[]): AddressRanges {
  const ranges = entries.map(parseRange);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && ranges.some((range) => contains(range, address));
  };
}

/** Undefined for an invalid address. An IPv4-mapped IPv6 address becomes the IPv4 address. */
export function parseAddress(text: string): Address | undefined {
  // Only the four-part decimal form that resolvers and URL parsers produce; ipaddr.js alone would accept 0x7f.1.
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
