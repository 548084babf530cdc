import { createHash } from 'node:crypto';
import type { Fingerprint } from '#shared/graph/forks/fingerprint.ts';

/** The SHA-256 of everything that a step is executed with, in hexadecimal. */
export const stepDigest = ({ node, input }: Fingerprint): string =>
  createHash('sha256').update(node).update('\n').update(input).digest('hex');
