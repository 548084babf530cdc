import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressPolicy, canonicalAddress, type ResolveHost } from './addresses.ts';
import { EgressError } from './error.ts';
import type { OwnServices } from './own.ts';

export const resolveWithSystem: ResolveHost = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map((entry) => entry.address);

/** The rules for opening a connection. */
export interface Guard {
  allowed: AddressPolicy;
  own: OwnServices;
  resolve: ResolveHost;
}

/**
 * The addresses of a host if all are allowed at this port. Throws EgressError `refused` and `unreachable`, and any
 * error of the resolver.
 */
export async function judgeHost(
  hostname: string,
  port: number,
  { allowed, own, resolve }: Guard,
): Promise<readonly string[]> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(bare) ? [bare] : await resolve(bare);
  if (addresses.length === 0) throw unreachable(bare);
  // One bad address among good ones is typical of DNS rebinding.
  if (!addresses.every(allowed)) throw refusal(bare);
  if (await own(addresses, port)) throw ownRefusal(bare, port);
  return addresses;
}

/**
 * Resolves and checks a host, then connects to the checked addresses. undici skips the lookup for IP literals, so those
 * are checked here as well. Finally, the socket's remote address is checked.
 */
export function createGuardedConnector(guard: Guard, timeoutMs: number): buildConnector.connector {
  return (target, callback) => {
    const judging = judgeHost(target.hostname, portOf(target), guard);
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
          if (pinned && guard.allowed(peer)) return callback(null, socket);
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

/** The port of a URL, or of undici's target. */
export const portOf = ({ port, protocol }: { port: string; protocol: string }): number =>
  Number(port) || (protocol === 'https:' ? 443 : 80);

const ownRefusal = (host: string, port: number): EgressError =>
  new EgressError(
    'refused',
    `'${host}:${port}' belongs to this service itself and cannot be called from here`,
  );

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
