import type { JsonObject } from '../json.ts';
import { jsonDigest } from './json-digest.ts';

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
