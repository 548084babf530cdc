import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { callDigest } from '#shared/crypto/call-digest.ts';
import { recordMismatch } from '#shared/db/gates/mismatches.ts';
import { findBound } from '#shared/db/gates/shown.ts';
import { findOwnApproval } from '#shared/db/gates/tool-calls.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import { FAILURE_ASKS, FAILURE_NODE, type StepCall } from '#shared/execution.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { digestOfItem } from '#shared/graph/consequences/many-items.ts';
import { differencesFrom } from '#shared/graph/consequences/binding.ts';
import type { AskingStep, StepToApprove } from '#shared/graph/gates/gate-opening.ts';
import type { JsonObject } from '#shared/json.ts';
import { type StepTarget, targetOfTool } from '#shared/operations/gates/step-tools.ts';
import type { CallApproval } from './agents/call.ts';
import { askAbout } from '#shared/agents/question.ts';
import { createRedact, type Redact } from './agents/redact.ts';
import type { Attempt } from './attempt.ts';
import type { ExecuteNodeDeps } from './step-context.ts';

/** A step of an ordinary run that is about to be executed. */
export interface Pending {
  runId: string;
  stepKey: string;
  nodeId: string;
  /** The tool, or `workflow:` with the workflow; undefined for an agent. */
  tool: string | undefined;
  /** What it would be executed with. */
  arguments: JsonObject;
  /** Whether its node requires an approval. */
  asks: boolean;
  /** Whether a gate of the run was decided. */
  bound: boolean;
  /** What it reaches. */
  target: () => StepTarget;
  redact: Redact;
}

export type PermitDeps = Pick<ExecuteNodeDeps, 'db' | 'metrics'>;

/** What a step is executed with. */
export interface Permitted {
  arguments: JsonObject;
  /** Undefined for a step that needs no approval of its own. */
  approval?: CallApproval | undefined;
}

/**
 * Decides whether a step can be executed: under its own approval for exactly these arguments, or without one, if its node
 * requires none and the gate before it did not show anything else. Otherwise the step must ask. Throws a failure of the
 * node for an agent that was shown otherwise, since its prompts are not edited by approvers.
 */
export async function permitStep(
  { db, metrics }: PermitDeps,
  pending: Pending,
): Promise<Permitted | { ask: AskingStep }> {
  const { runId, stepKey, nodeId, tool, arguments: args, asks, bound } = pending;
  if (!asks && !bound) return { arguments: args };
  const shown = asks ? undefined : await findBound(db, { runId, nodeId, stepKey });
  const pinned = shown?.shown.target;
  const target = pinned === undefined ? undefined : pending.target();
  const different =
    shown === undefined ? [] : differencesFrom(shown.shown, { tool, arguments: args, target });
  const items = shown?.shown.items;
  if (items !== undefined && digestOfItem(args, items, jsonDigest) !== shown?.item) {
    different.push('arguments');
  }
  if (!asks && different.length === 0) {
    // The tool must still be the same once the step has begun.
    const approval = pinned === undefined ? undefined : { toolDigest: pinned.tool_digest };
    return { arguments: args, approval };
  }
  const reason = mismatchText(different, { tool, target, gateKey: shown?.gateKey ?? '' });
  const mismatch = async (what: { reason: string; paths: string[] }): Promise<void> => {
    if (await recordMismatch(db, { runId, nodeId, stepKey }, what)) metrics?.mismatched();
  };
  if (tool === undefined) {
    await mismatch({ reason, paths: different });
    throw ApplicationFailure.nonRetryable(reason, FAILURE_NODE, { kind: 'policy', attempts: 1 });
  }
  const call: StepToApprove = { tool, arguments: args, ...pending.target() };
  const digestOf = (given: JsonObject): string =>
    callDigest({ run_id: runId, step_key: stepKey, ...call, arguments: given });
  const last = await findOwnApproval(db, { runId, stepKey });
  const same = last?.digest === digestOf(args);
  if (last?.status === 'approved' && same) {
    const decided = last.decided_arguments ?? args;
    if (last.decided_digest === digestOf(decided)) {
      const { approver } = last;
      return { arguments: decided, approval: { toolDigest: call.tool_digest, approver } };
    }
  }
  if (shown !== undefined) {
    await mismatch({ reason, paths: different });
  }
  const { value } = await pending.redact(args);
  const isOver = last === undefined || !same || last.status === 'approved';
  const round = (last?.round ?? 0) + (isOver || last.status === 'rejected' ? 1 : 0);
  const ask = { round, call, ...askAbout(tool, value) };
  return { ask: { ...ask, ...(shown?.settings == null ? {} : { settings: shown.settings }) } };
}

function mismatchText(
  different: readonly string[],
  {
    tool = '',
    target,
    gateKey,
  }: Pick<Partial<Pending>, 'tool'> & { target: StepTarget | undefined; gateKey: string },
): string {
  if (target === undefined || different[0] !== 'tool') {
    return `Not sent: ${different.join(', ')} would not be what gate '${gateKey}' showed`;
  }
  const what = target.tool_digest === null ? 'does not exist any more' : 'has changed';
  return `Not sent: '${tool}' ${what} since gate '${gateKey}' showed it`;
}

/**
 * A step that needs a decision of its own, under which it can be executed. Undefined when it needs none. Throws
 * FAILURE_ASKS if it must ask first.
 */
export async function permitOwn(
  deps: ExecuteNodeDeps,
  { signal, place }: Attempt,
  call: StepCall,
  customTool: CustomTool | undefined,
): Promise<{ call: StepCall; approval: CallApproval | undefined } | undefined> {
  const { node, params, agent, asks = false, bound = false, workspace_id: workspaceId } = call;
  // The turns and calls of an agent are not shown one by one, and a rehearsal executes nothing that needs approval.
  if ((!asks && !bound) || agent !== undefined || call.rehearsal !== undefined) return undefined;
  const { mock: _mock, ...prompts } = params;
  const permitted = await permitStep(deps, {
    ...{ runId: call.run_id, stepKey: call.step_key, nodeId: node.id, asks, bound },
    tool: node.kind === 'tool' ? node.tool_name : undefined,
    // An agent's parameters include its mock, which is not sent.
    arguments: node.kind === 'tool' ? params : prompts,
    target: () => targetOfTool(node.kind === 'tool' ? node.tool_name : '', customTool),
    redact: createRedact(workspaceId, deps.policies.known(workspaceId), { signal, place }),
  });
  if ('ask' in permitted) throw asking(permitted.ask);
  if (permitted.approval === undefined) return undefined;
  const { arguments: args, approval } = permitted;
  return { call: { ...call, params: args }, approval };
}

/** The failure of a step that must ask. Benign, since nothing has failed. */
const asking = (ask: AskingStep): ApplicationFailure =>
  ApplicationFailure.create({
    message: ask.question,
    type: FAILURE_ASKS,
    nonRetryable: true,
    details: [ask],
    category: ApplicationFailureCategory.BENIGN,
  });
