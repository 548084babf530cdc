import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { offeredTools } from '#shared/agents/offered-tools.ts';
import { callDigest } from '#shared/crypto/call-digest.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import type { Decision } from '#shared/db/gates/decision.ts';
import { findOpenCall, type OpenToolCall } from '#shared/db/gates/tool-calls.ts';
import { findOfferedDefinitions } from '#shared/db/tools/custom-tools.ts';
import type { Db } from '#shared/db/pool.ts';
import { AppError, conflict } from '#shared/errors.ts';
import { EDITED_BY_ONE, editProblem, ownArguments } from '#shared/graph/gates/edited-arguments.ts';
import type { JsonObject } from '#shared/json.ts';
import { findStepTool } from '#shared/operations/gates/step-tools.ts';
import { argumentsUntrusted } from '#shared/platform/threads/untrusted.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** A decision as a request contains it. */
export interface RequestedDecision extends Omit<Decision, 'changed'> {
  /** The arguments of the tool call, as changed by the approver. */
  arguments?: JsonObject;
}

/**
 * The decision about a tool call, bound to what will be sent: the arguments that were shown, or the approver's. Other
 * decisions are returned unchanged. Throws AppError `conflict` when the tool has changed since the call was requested,
 * and `invalid` for arguments that do not fit, or that change what the node sets.
 */
export async function bindDecision(
  db: Db,
  { arguments: wanted, ...decision }: RequestedDecision,
): Promise<Decision> {
  const { actor, runId, digest, approved } = decision;
  if (digest === undefined) {
    if (wanted === undefined) return decision;
    throw new AppError('invalid', 'Invalid body: arguments need the digest of a tool call');
  }
  if (!approved) {
    if (wanted === undefined) return decision;
    throw new AppError('invalid', 'Invalid body: a rejected call has no arguments');
  }
  const call = await findOpenCall(db, { workspaceId: actor.workspaceId, runId, digest });
  // The statement that decides finds the same problem, and reports it.
  if (call === undefined) return decision;
  const tool = await currentTool(db, actor.workspaceId, call);
  if (wanted === undefined || canonicalJson(wanted) === canonicalJson(call.arguments)) {
    return decision;
  }
  if (call.required > 1) {
    throw new AppError('invalid', `Invalid body: ${EDITED_BY_ONE}`);
  }
  await requireFitting(actor.workspaceId, call, tool, wanted);
  const changed = callDigest({
    run_id: runId,
    step_key: call.stepKey,
    tool: call.tool,
    tool_digest: call.toolDigest,
    schema_digest: call.schemaDigest,
    arguments: wanted,
  });
  return { ...decision, changed: { arguments: wanted, digest: changed } };
}

/** The tool of a call as it was when the call was requested; undefined when it has changed since. */
export async function findCalledTool(
  db: Db,
  workspaceId: string,
  { node, ...call }: Pick<OpenToolCall, 'node' | 'tool' | 'schemaDigest' | 'toolDigest'>,
): Promise<Pick<OfferedTool, 'schema' | 'fixed'> | undefined> {
  if (node.kind !== 'agent') {
    const step = await findStepTool(db, workspaceId, node);
    const isSame = step.schema_digest === call.schemaDigest && step.tool_digest === call.toolDigest;
    return isSame ? step : undefined;
  }
  const definitions = await findOfferedDefinitions(db, { workspaceId, node });
  const { tools } = offeredTools(node, definitions, jsonDigest);
  const tool = tools.find(({ name }) => name === call.tool);
  const same = tool?.schemaDigest === call.schemaDigest && tool.toolDigest === call.toolDigest;
  return same ? tool : undefined;
}

async function currentTool(
  db: Db,
  workspaceId: string,
  call: OpenToolCall,
): Promise<Pick<OfferedTool, 'schema' | 'fixed'>> {
  const tool = await findCalledTool(db, workspaceId, call);
  if (tool !== undefined) return tool;
  const next =
    call.node.kind === 'agent' ? 'and the agent can call again' : 'and resume the run to ask again';
  throw conflict(
    `The tool '${call.tool}' has changed since the call was requested: reject it, ${next}`,
  );
}

async function requireFitting(
  workspaceId: string,
  call: OpenToolCall,
  tool: { schema: JsonObject; fixed: readonly string[] },
  wanted: JsonObject,
): Promise<void> {
  const refusal = editProblem({ ...call, ofAgent: call.node.kind === 'agent' }, tool, wanted);
  if (refusal !== undefined) throw new AppError('invalid', `Invalid body: ${refusal}`);
  const { problem, schemaProblem } = await argumentsUntrusted(
    workspaceId,
    tool.schema,
    ownArguments(tool, wanted),
  );
  const message = problem ?? schemaProblem;
  if (message !== undefined) throw new AppError('invalid', `Invalid body: arguments ${message}`);
}
