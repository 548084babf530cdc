import type { JsonObject } from '#shared/json.ts';
import { jsonDigest } from './json-digest.ts';

/** What a decision about a tool call is bound to. */
export interface CallToApprove {
  run_id: string;
  step_key: string;
  tool: string;
  /**
   * The digest of what the call reaches. Absent or null for a built-in tool, and for calls recorded by earlier
   * releases.
   */
  tool_digest?: string | null | undefined;
  schema_digest: string;
  /** The arguments as they will be sent. */
  arguments: JsonObject;
}

/** The digest by which a decision names a tool call. */
export const callDigest = ({
  run_id,
  step_key,
  tool,
  tool_digest,
  schema_digest,
  arguments: args,
}: CallToApprove): string =>
  jsonDigest({
    run_id,
    step_key,
    tool,
    ...(tool_digest == null ? {} : { tool_digest }),
    schema_digest,
    arguments: args,
  });
