import { getPublicSuffix } from 'tldts';

/**
 * Whether `*.` before it covers domains of many owners: `*.co.uk`, but also `*.github.io`, below which everyone can have
 * a site. By the Public Suffix List (https://publicsuffix.org) in this version of its package. `host` is in the canonical
 * form of an allowed host, with or without the wildcard and a port; without the wildcard it is one host, which is
 * allowed.
 */
export function coversOtherOwners(host: string): boolean {
  const [, domain] = /^\*\.([^:]+)/.exec(host) ?? [];
  return domain !== undefined && getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
}
