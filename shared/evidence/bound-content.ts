import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { Json, JsonObject } from '#shared/json.ts';

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

/** What the digest of a tool call covers. */
export const callContent = ({
  run_id,
  step_key,
  tool,
  tool_digest,
  schema_digest,
  arguments: args,
}: CallToApprove): JsonObject => ({
  run_id,
  step_key,
  tool,
  ...(tool_digest == null ? {} : { tool_digest }),
  schema_digest,
  arguments: args,
});

/** A gate with what it shows. */
interface GateToDecide {
  run_id: string;
  step_key: string;
  round: number;
  prompt: string;
  title?: string | null | undefined;
}

/** What the digest of a gate covers. */
export const gateContent = (
  { run_id, step_key, round, title, prompt }: GateToDecide,
  { approve, reject, timeout }: GateConsequences,
): Json =>
  ({
    ...{ run_id, step_key, round, title: title ?? '', prompt, approve, reject },
    ...(timeout === undefined ? {} : { timeout }),
  }) as unknown as Json;
