import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createAddressRanges } from './address-ranges.ts';
import { canonicalAddress, createAddressPolicy, type ResolveHost } from './addresses.ts';

/** A server that belongs to this installation. */
export interface ServiceAddress {
  /** A name or an IP address, IPv6 without brackets. */
  host: string;
  port: number;
  /** Whether public addresses of its name do not belong to this installation, because many services share those. */
  onlyPrivate?: boolean;
}

/** Whether connecting to any of these addresses at this port reaches a server of this installation. */
export type OwnServices = (addresses: readonly string[], port: number) => Promise<boolean>;

/**
 * Checks resolved addresses. A service's own host name is resolved only for a connection to its port, so other calls
 * cost nothing. A name that does not resolve matches nothing.
 */
export function createOwnServices(
  services: readonly ServiceAddress[],
  resolve: ResolveHost,
): OwnServices {
  return async (addresses, port) => {
    for (const service of services) {
      if (service.port !== port) continue;
      const found = await addressesOf(service.host, resolve);
      const own = service.onlyPrivate === true ? found.filter((each) => !isPublic(each)) : found;
      const isLocal = own.some(leadsHere);
      const reached = addresses.some(
        (address) =>
          own.includes(canonicalAddress(address) ?? '') || (isLocal && leadsHere(address)),
      );
      if (reached) return true;
    }
    return false;
  };
}

const isPublic = createAddressPolicy([]);

async function addressesOf(host: string, resolve: ResolveHost): Promise<string[]> {
  const found = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
  return found.flatMap((address) => canonicalAddress(address) ?? []);
}

const isLoopback = createAddressRanges(['127.0.0.0/8', '0.0.0.0', '::1', '::']);

/** Whether an address belongs to this machine. A server that listens on all addresses is reachable at each of them. */
function leadsHere(text: string): boolean {
  const address = canonicalAddress(text);
  if (address === undefined) return false;
  if (isLoopback(address)) return true;
  return Object.values(networkInterfaces())
    .flat()
    .some((entry) => canonicalAddress(entry?.address ?? '') === address);
}
