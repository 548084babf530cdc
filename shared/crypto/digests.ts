import { createHash } from 'node:crypto';
import { canonicalJson } from '../values/canonical-json.ts';
import type { JsonObject } from '../json.ts';

/** `sha256:` and the digest of the value's canonical JSON, in hex. */
export const jsonDigest = (value: unknown): string =>
  `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;

/** What a decision about a tool call is bound to. */
export interface CallToApprove {
  run_id: string;
  step_key: string;
  tool: string;
  schema_digest: string;
  /** As they will be sent. */
  arguments: JsonObject;
}

/** The digest that a decision about a tool call names. */
export const callDigest = ({
  run_id,
  step_key,
  tool,
  schema_digest,
  arguments: args,
}: CallToApprove): string => jsonDigest({ run_id, step_key, tool, schema_digest, arguments: args });
