import { ApplicationFailure } from '@temporalio/activity';
import { shortened } from '#shared/agents/call-result.ts';
import { callDigest } from '#shared/crypto/call-digest.ts';
import { readCall, type StoredCall } from '#shared/db/agents/conversations.ts';
import type { Pool } from '#shared/db/pool.ts';
import { FAILURE_NODE, type StepCall } from '#shared/execution.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Redact } from './redact.ts';

export interface CallArguments {
  args: JsonObject;
  /** What the approval is bound to, if a person had to approve the call. */
  approval?: CallApproval | undefined;
  /** The approval was given in another run, so it does not permit the execution of anything. */
  history: boolean;
}

/** What an approved call can reach. */
export interface CallApproval {
  /** The digest of the tool when the call was requested; null for a built-in tool. */
  toolDigest: string | null;
  /** The member whose account a step uses that acts as its approver. */
  approver?: string | null;
}

/**
 * The arguments of a call: those of the turn that requested it, or as its approver changed them. Undefined when the
 * failure of the call is already its result: then it is not made again. Throws when a call that needs approval has none
 * for exactly these arguments. See also `requireOwnApproval`.
 */
export async function readArguments(
  db: Pool,
  { run_id: runId, step_key: stepKey }: Pick<StepCall, 'run_id' | 'step_key'>,
  agent: AgentPart & { call: number },
): Promise<CallArguments | undefined> {
  const key = { agentKey: agent.step_key, turn: agent.turn, index: agent.call };
  const stored = await readCall(db, { runId, stepKey, ...key });
  if (stored?.call.arguments === undefined) {
    throw ApplicationFailure.nonRetryable(
      `Turn ${agent.turn} requested no such call`,
      FAILURE_NODE,
    );
  }
  if (stored.status === 'failed' && (stored.refused || agent.fails !== true)) return undefined;
  const { call, approved, status } = stored;
  return {
    args: permittedArguments(runId, stepKey, stored, stored.call.arguments),
    approval: call.question === undefined ? undefined : { toolDigest: call.tool_digest ?? null },
    history: call.question !== undefined && approved?.reused === true && status !== 'success',
  };
}

/** Throws unless a call can be executed under its approval: a call that needs one must have it in this run. */
export function requireOwnApproval(
  asked: CallArguments | undefined,
  { tool = '' }: Pick<AgentPart, 'tool'>,
): void {
  if (asked?.history === true) throw notApproved(tool);
}

const notApproved = (tool: string) =>
  ApplicationFailure.nonRetryable(
    `No one has approved the call of '${tool}' with these arguments`,
    FAILURE_NODE,
  );

function permittedArguments(
  runId: string,
  stepKey: string,
  { call, approved, status }: StoredCall,
  requested: JsonObject,
): JsonObject {
  if (call.question === undefined) return requested;
  const args = approved?.arguments ?? requested;
  // It was already made, perhaps in the run that this one starts from, and is not made again.
  if (status === 'success') return args;
  const digest = callDigest({
    run_id: runId,
    step_key: stepKey,
    tool: call.tool,
    tool_digest: call.tool_digest,
    schema_digest: call.schema_digest ?? '',
    arguments: args,
  });
  if (approved?.digest === digest) return args;
  throw notApproved(call.tool);
}

/** A tool's output as the model reads it: redacted, and truncated if it is long. */
export async function resultForModel(output: Json, redact: Redact) {
  const { value, verdicts } = await redact(output);
  return { result: shortened(value), verdicts };
}
