import { z } from 'zod';
import type { Detector, Span } from './span.ts';

const ipv6 = z.ipv6();
const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
// Not part of a longer dotted text: an object identifier, a version with five parts, a file name.
const V4 = new RegExp(
  `(?<![\\p{L}\\d_]|[\\p{L}\\d_]\\.|[\\p{L}_]-)${OCTET}(?:\\.${OCTET}){3}(?![\\p{L}\\d_]|\\.[\\p{L}\\d]|[-+][\\p{L}])`,
  'gu',
);
/** After one of these, four dotted numbers are a version. */
const VERSION_BEFORE = /(?:\bv|\bver|\bversion|\brelease|\bbuild|\brev|\brevision)[.:=]?\s{0,2}$/i;
const CONTEXT = 12;
const V6 =
  /(?<![\p{L}\d_:.])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{0,4}|\d{1,3}(?:\.\d{1,3}){3})(?![\p{L}\d_:])/giu;

/** Finds IPv4 and IPv6 addresses, without a prefix length or port that follows. */
export const findIpAddresses: Detector = (text) => {
  const spans: Span[] = [];
  for (const { 0: address, index } of text.matchAll(V4)) {
    if (VERSION_BEFORE.test(text.slice(Math.max(0, index - CONTEXT), index))) continue;
    spans.push({ start: index, end: index + address.length });
  }
  for (const { 0: address, index } of text.matchAll(V6)) {
    // `Bad::Face` is a name in some languages; every address in use has a digit.
    if (!/\d/.test(address) || !ipv6.safeParse(address).success) continue;
    spans.push({ start: index, end: index + address.length });
  }
  return spans;
};
