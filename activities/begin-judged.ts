import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { CallLimit } from '#shared/contract/policies/policy.ts';
import { lastCost } from '#shared/db/money/step-room.ts';
import { type BeginOutcome, beginStep } from '#shared/db/steps/steps.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';
import { FAILURE_WAITS, type StepCall } from '#shared/execution.ts';
import { nodeLabel, outputKey } from '#shared/graph/compile.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { judgeUntrusted } from '#shared/platform/threads/untrusted.ts';
import type { Judgment } from '#shared/policies/judge.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import { isPureTool } from '#shared/tools.ts';
import { FREE, type StepCost } from '#shared/money/spending.ts';
import type { Attempt } from './attempt.ts';
import { limitedCalls } from './call-limits.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { TurnContext } from './agents/turn.ts';
import { agentCost, turnBytes, turnCost } from './nodes/agent-cost.ts';
import { NodeError } from './nodes/node.ts';
import { runNode } from './run-node.ts';
import { CLAIM_MS, type ExecuteNodeDeps } from './step-context.ts';

/**
 * The maximum number of policy changes between reading the policies and claiming a step. Only a loop changes them this
 * often.
 */
const MAX_REVISIONS = 20;

/** The step's possible cost. Only agents cost anything. */
function costOfStep(
  deps: ExecuteNodeDeps,
  prices: PriceOverrides,
  call: StepCall,
  turn: Promise<TurnContext> | undefined,
): StepCost | (() => Promise<StepCost>) {
  const { node, run_id: runId } = call;
  const sources = {
    prices,
    lastCost: () => lastCost(deps.db, { runId, nodeId: node.id }),
  };
  switch (node.kind) {
    case 'tool':
    case 'code':
      return FREE;
    case 'agent':
      return async () =>
        turn === undefined
          ? agentCost({ ...call, node }, sources)
          : turnCost(turnToPrice({ ...call, node }, await turn), sources);
    default:
      return node satisfies never;
  }
}

/** A turn with everything that will be sent. */
const turnToPrice = ({ node, params }: StepCall & { node: AgentNode }, context: TurnContext) => ({
  node,
  turn: context.agent.turn,
  inputBytes: turnBytes(params, context),
});

interface Begun {
  begun: Exclude<BeginOutcome, { outcome: 'stale' }>;
  step: StepBeginning;
  computed: { output: Json; seconds: number } | undefined;
  judgment: Judgment;
  /** The prices by which the possible cost was reserved. */
  prices: PriceOverrides;
  /** The limits of calls by which it began. */
  limits: readonly CallLimit[];
}

/**
 * Judges the step by the cached policies and claims it with the verdicts. If the policies have changed, the ledger
 * refuses and the step is judged again. So a change applies to the very next step, and unchanged policies cost no
 * query.
 */
export async function beginJudged(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  { aliases, ...claimed }: { execution: string; claim: string; aliases?: readonly string[] },
  turn?: Promise<TurnContext>,
): Promise<Begun> {
  const { workspace_id: workspaceId, workflow_id: workflowId, node, params, state } = call;
  let policies = deps.policies.known(workspaceId);
  for (let round = 0; round < MAX_REVISIONS; round += 1) {
    const { revision, prices, limits } = policies;
    const judgment = await judgeUntrusted(
      workspaceId,
      policies,
      { workflowId, node, params, state, aliases },
      { signal: attempt.signal, place: attempt.place },
    );
    const computed =
      judgment.refusal === undefined
        ? await computePure(deps, attempt, permitted(call, judgment))
        : undefined;
    // A refused step calls nothing.
    const applying = judgment.refusal === undefined ? limits : [];
    const calls = limitedCalls(applying, { call, stored: judgment.stored });
    const step: StepBeginning = {
      ...placeOf(attempt, call),
      ...claimed,
      claimMs: CLAIM_MS,
      input: toStorable(inputOf(call, judgment)),
      cost: costOfStep(deps, prices, permitted(call, judgment), turn),
      judged: {
        workspaceId,
        revision,
        verdicts: judgment.verdicts,
        ...(calls === undefined ? {} : { calls }),
      },
    };
    const begun = await beginStep(deps.db, step, computed);
    if (begun.outcome !== 'stale') return { begun, step, computed, judgment, prices, limits };
    policies = await deps.policies.refresh(workspaceId);
  }
  throw ApplicationFailure.retryable("The workspace's policies keep changing");
}

/** The initial fields of a step, whether it is executed or takes its result from a record. */
export const placeOf = (attempt: Attempt, call: StepCall) => ({
  pendingWrites: call,
  stepKey: call.step_key,
  nodeId: call.node.id,
  label: labelOf(call),
  kind: call.node.kind,
  iteration: call.iteration,
  outputKey: call.agent === undefined ? outputKey(call.node) : null,
  agent: call.agent,
  queuedAt: attempt.scheduledAt,
});

/** The call, with only the values that the policies permit. */
export const permitted = (call: StepCall, { params, state }: Judgment): StepCall => ({
  ...call,
  params,
  state,
});

/**
 * Computes the output of a tool that only computes, before the step is claimed, so that the step takes one statement.
 * Undefined for all other nodes, and after an error, which the regular attempt then counts.
 */
async function computePure(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
): Promise<{ output: Json; seconds: number } | undefined> {
  // The result of an agent's call is redacted before it is stored.
  if (call.node.kind !== 'tool' || call.agent !== undefined) return undefined;
  if (!isPureTool(call.node.tool_name)) return undefined;
  const began = performance.now();
  try {
    const { output } = await runNode(deps, attempt, call, {
      claim: '',
      errors: 0,
      generation: 0,
      budgeted: false,
      prices: {},
    });
    return { output: toStorable(output), seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    if (error instanceof NodeError) return undefined;
    throw error;
  }
}

/** The label of a step, or of a part of an agent. */
export function labelOf({ node, agent }: StepCall): string {
  if (agent?.call !== undefined) return agent.tool ?? nodeLabel(node);
  return agent === undefined ? nodeLabel(node) : `${nodeLabel(node)}, turn ${agent.turn}`;
}

/** What a step stores as its input. */
export function inputOf({ node }: StepCall, { stored }: Judgment): JsonObject {
  return node.kind === 'agent' ? { model: node.model, ...stored } : stored;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Temporal retries soon, and no worker waits until then. The failure is marked benign, since nothing has failed. */
export const waiting = (attempt: number): ApplicationFailure =>
  ApplicationFailure.create({
    message:
      'Waiting for steps in progress: their possible cost leaves no room under a cap or a budget',
    type: FAILURE_WAITS,
    nextRetryDelay: Math.round(
      Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 1.5 ** Math.min(attempt, 20)) *
        (0.75 + Math.random() / 2),
    ),
    category: ApplicationFailureCategory.BENIGN,
  });
