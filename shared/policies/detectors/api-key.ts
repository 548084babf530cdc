import { findLabeledSecrets } from './labeled-secret.ts';
import { type Detector, matchesOf, valuesOf } from './span.ts';

/** Keys with a known prefix that does not follow a letter or digit. */
const PREFIXED = [
  // Keys of this service, and of model providers and others with the same prefixes.
  'ops_[A-Za-z0-9_-]{16,}',
  'svc_(?:live|test)_[A-Za-z0-9_-]{10,}',
  'whsec_[A-Za-z0-9+/=_-]{16,}',
  'sk-(?=[A-Za-z_-]{0,60}\\d)[A-Za-z0-9_-]{16,}',
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}',
  'gh[pousr]_[A-Za-z0-9]{20,}',
  'github_pat_[A-Za-z0-9_]{20,}',
  'glpat-[A-Za-z0-9_-]{20,}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-\\d-[A-Za-z0-9-]{10,}',
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])',
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  'hf_[A-Za-z0-9]{30,}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'dop_v1_[a-f0-9]{64}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  // A JSON Web Token. The lookbehind keeps the scans of two attempts from overlapping.
  '(?<![_-])eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}',
].join('|');
const KEY = new RegExp(`(?<![A-Za-z0-9])(?:${PREFIXED})`, 'g');
// The body of a block never has five hyphens in a row, so a block without an end extends at most to the next one.
const PRIVATE_KEY =
  /-----BEGIN[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-(?!----)[^-]*)*(?:-----END[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g;
const BEARER = /\b(?:Bearer|Basic) {1,3}([A-Za-z0-9_\-./+=~]{16,})/gi;
/** Bits per character: words and dates are below, random keys above. */
const MIN_ENTROPY = 3;

/** Finds keys, tokens and private keys: by their prefix, or after a label such as `token` or `password`. */
export const findApiKeys: Detector = (text) => [
  ...matchesOf(text, KEY),
  ...matchesOf(text, PRIVATE_KEY),
  ...findLabeledSecrets(text),
  ...valuesOf(text, BEARER, isRandom),
];

function isRandom(value: string): boolean {
  return /\d/.test(value) && /[a-z]/i.test(value) && entropyOf(value) >= MIN_ENTROPY;
}

function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    bits -= (count / text.length) * Math.log2(count / text.length);
  }
  return bits;
}
