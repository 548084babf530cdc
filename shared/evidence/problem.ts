import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** Something in a run's evidence that does not follow from the rest. */
export interface EvidenceProblem {
  /** The line of the file, from 1. */
  line: number;
  /** What it is about, such as `step pay#2: output`. */
  path: string;
  problem: string;
}

export type Report = (line: number, path: string, problem: string) => void;

/** The SHA-256 of these parts, one after the other, in hexadecimal. A text counts as UTF-8. */
export type Sha256 = (...parts: readonly ({ text: string } | { hex: string })[]) => string;

/** The digest of a value, as `jsonDigest` of the service computes it. */
export const digestOf = (sha256: Sha256, value: Json): string =>
  `sha256:${sha256({ text: canonicalJson(value) })}`;

/** Whether two values are the same JSON. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  canonicalJson(one) === canonicalJson(other);
