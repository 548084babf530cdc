import { getPublicSuffix } from 'tldts';

/**
 * Whether `*.` before the host covers domains of many owners: `*.co.uk`, but also `*.github.io`, where anyone can have
 * a site. It uses the Public Suffix List (https://publicsuffix.org) in this version of its package. `host` is in the
 * canonical form of an allowed host, with or without the wildcard and a port; without the wildcard it is one host,
 * which is allowed.
 */
export function coversOtherOwners(host: string): boolean {
  const [, domain] = /^\*\.([^:]+)/.exec(host) ?? [];
  return domain !== undefined && getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
}
