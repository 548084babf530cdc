import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressPolicy, canonicalAddress } from './egress-addresses.ts';
import { EgressError } from './egress-error.ts';

/** All addresses of a name, in order of preference. The seam where tests play a hostile DNS. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

export const resolveWithSystem: ResolveHost = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map((entry) => entry.address);

/**
 * The addresses of a host, all of which may be connected to. Throws EgressError `refused` and `unreachable`, and
 * whatever the resolver throws.
 */
export async function judgeHost(
  hostname: string,
  allowed: AddressPolicy,
  resolve: ResolveHost,
): Promise<readonly string[]> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(bare) ? [bare] : await resolve(bare);
  if (addresses.length === 0) throw unreachable(bare);
  // One bad address among good ones is how a rebinding name looks.
  if (!addresses.every(allowed)) throw refusal(bare);
  return addresses;
}

/**
 * Resolves and judges a host, then connects to the very addresses that were judged. undici asks no lookup for
 * IP literals, so those are judged here as well; the socket's own word is taken last.
 */
export function createGuardedConnector(
  allowed: AddressPolicy,
  resolve: ResolveHost,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    const judging = judgeHost(target.hostname, allowed, resolve);
    const resolving = withTimeout(judging, timeoutMs, () => unreachable(target.hostname));
    resolving
      .then((addresses) => {
        const connect = buildConnector({
          timeout: timeoutMs,
          lookup: pinnedLookup(addresses),
          maxCachedSessions: 0,
        });
        connect(target, (error, socket) => {
          if (error !== null) return callback(error, null);
          const peer = socket.remoteAddress ?? '';
          const pinned = addresses.some(
            (address) => canonicalAddress(address) === canonicalAddress(peer),
          );
          if (pinned && allowed(peer)) return callback(null, socket);
          socket.destroy();
          callback(refusal(target.hostname), null);
        });
      })
      .catch((error: unknown) => {
        const { hostname } = target;
        callback(error instanceof EgressError ? error : unreachable(hostname, error), null);
      });
  };
}

function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all) return callback(null, entries);
    const [first] = entries;
    callback(null, first?.address ?? '', first?.family ?? 0);
  };
}

const unreachable = (host: string, cause?: unknown): EgressError =>
  new EgressError('unreachable', `'${host}' could not be reached`, { cause });

export const refusal = (host: string): EgressError =>
  new EgressError('refused', `The address of '${host}' is not allowed`);

export async function withTimeout<T>(
  work: Promise<T>,
  timeoutMs: number,
  error: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(error()), timeoutMs);
  });
  return Promise.race([work, expiry]).finally(() => clearTimeout(timer));
}
