import { defaultTimeoutSeconds, type ExecutedNode } from '../shared/graph/kinds.ts';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { type CustomTool, findCustomTool } from '../shared/db/workflows/custom-tools.ts';
import { recordStepVerdict } from '../shared/db/audit/governance.ts';
import { lastCost } from '../shared/db/money/step-room.ts';
import { blockedEvidence, blockedText } from '../shared/db/money/blocked.ts';
import type { Pool } from '../shared/db/pool.ts';
import { type BeginOutcome, beginStep, type StepBeginning } from '../shared/db/runs/steps.ts';
import {
  type Beginning,
  cancelStep,
  finishStep,
  recordStepError,
  releaseStep,
  renewClaim,
  type StepEnd,
} from '../shared/db/runs/step-ends.ts';
import { messageOf } from '../shared/errors.ts';
import {
  FAILURE_BUDGET,
  FAILURE_NODE,
  FAILURE_RUN_GONE,
  FAILURE_WAITS,
  INFRASTRUCTURE_ATTEMPTS,
  type StepCall,
} from '../shared/execution.ts';
import { nodeLabel, outputKey } from '../shared/graph/compile.ts';
import { type Json, type JsonObject, toStorable } from '../shared/json.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { judgeUntrusted } from '../shared/platform/threads/untrusted.ts';
import { WorkBusyError } from '../shared/platform/threads/threads.ts';
import type { Judgement } from '../shared/policy/judge.ts';
import { customToolName, isPureTool } from '../shared/tools.ts';
import { FREE, type StepCost } from '../shared/spending.ts';
import type { PriceOverrides } from '../shared/prices.ts';
import type { Attempt } from './attempt.ts';
import { agentCost } from './nodes/agent-cost.ts';
import type { FrameNotifier } from './frame-notifier.ts';
import { type Consumption, NodeError, type NodeRunners } from './nodes/node.ts';
import type { PolicyCache } from './policies.ts';

/** How often a step reports that it is alive. Temporal forwards about one report in 0.8 × the heartbeat timeout. */
const HEARTBEAT_MS = 1_000;
/** A claim that was not renewed for this long is dead, and a resume stops waiting for it. */
const CLAIM_MS = 15_000;
const MAX_BACKOFF_MS = 3_600_000;
const MAX_OUTPUT_BYTES = 10_000_000;
/** Policies that change this many times in a row, between reading and claiming, are changed by a loop. */
const MAX_REVISIONS = 20;
const NOTHING_SPENT: Consumption = { costMicros: 0 };

type AttemptOutcome = 'success' | 'failed' | 'retried' | 'cancelled';

export interface StepMetrics {
  ended(kind: string, outcome: AttemptOutcome, seconds: number): void;
}

export interface ExecuteNodeDeps {
  db: Pool;
  metrics?: StepMetrics;
  log: Logger;
  frames: FrameNotifier;
  policies: PolicyCache;
  /** The workspace's prices where they differ from the price table. */
  priceOverrides: (workspaceId: string) => Promise<PriceOverrides>;
  runners: NodeRunners;
}

/**
 * One attempt at one step: judge it by the policies, claim it in the ledger, execute the node, record the outcome. All
 * in one activity, so that a step costs Temporal no more than a bare activity. An attempt that finds the step finished
 * returns the stored output. Only errors of the node use up its retries.
 */
export function createExecuteNode(
  deps: ExecuteNodeDeps,
): (asked: StepCall, attempt: Attempt) => Promise<Json> {
  return async (asked, attempt) => {
    const { customTool, call: given } = await withCustomTool(deps.db, asked);
    const { execution } = attempt;
    const claim = `${execution}/${attempt.number}/${randomUUID()}`;
    const { begun, step, computed, judgement } = await heartbeating(attempt, () =>
      beginJudged(deps, attempt, given, { execution, claim }),
    );
    deps.frames.wake(given.run_id);
    switch (begun.outcome) {
      case 'finished':
        return begun.output;
      case 'failed':
        throw ApplicationFailure.nonRetryable(begun.error, FAILURE_NODE);
      case 'waits':
        throw waiting(attempt.number);
      case 'refused':
        throw ApplicationFailure.nonRetryable(
          'The run no longer accepts this work',
          FAILURE_RUN_GONE,
        );
      case 'blocked':
        throw ApplicationFailure.nonRetryable(
          blockedText(begun.blocked),
          FAILURE_BUDGET,
          blockedEvidence(begun.blocked),
        );
      case 'begun':
        if (computed !== undefined) {
          deps.metrics?.ended(given.node.kind, 'success', computed.seconds);
          return computed.output;
        }
        return attemptStep(deps, attempt, permitted(given, judgement), judgement, {
          claim,
          beginning: { step, attempt: begun.attempts },
          customTool,
          ...begun,
        });
    }
  };
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Temporal retries soon, and no worker waits until then. Marked benign, since nothing has failed. */
const waiting = (attempt: number): ApplicationFailure =>
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

/** The step's possible cost. Only agents cost anything. */
function costOfStep(deps: ExecuteNodeDeps, call: StepCall): StepCost | (() => Promise<StepCost>) {
  const { node, run_id: runId, workspace_id: workspaceId } = call;
  switch (node.kind) {
    case 'tool':
      return FREE;
    case 'agent':
      return () =>
        agentCost(
          { ...call, node },
          {
            prices: () => deps.priceOverrides(workspaceId),
            lastCost: () => lastCost(deps.db, { runId, nodeId: node.id }),
          },
        );
    default:
      return node satisfies never;
  }
}

/**
 * The custom tool that the step calls, and the call with the tool's defaults where the node sets none. Read before the
 * step is claimed, so that a database outage costs the node no retry.
 */
async function withCustomTool(
  db: Pool,
  call: StepCall,
): Promise<{ customTool: CustomTool | undefined; call: StepCall }> {
  const { node } = call;
  const name = node.kind === 'tool' ? customToolName(node.tool_name) : undefined;
  if (name === undefined) return { customTool: undefined, call };
  const customTool = await findCustomTool(db, { workspaceId: call.workspace_id, name });
  if (customTool === undefined) return { customTool, call };
  const retry = node.retry ?? {
    max_attempts: 1 + customTool.retry_count,
    initial_interval_seconds: 1,
    backoff: 2,
  };
  const timeout_seconds = node.timeout_seconds ?? customTool.timeout_seconds;
  return { customTool, call: { ...call, node: { ...node, retry, timeout_seconds } } };
}

interface Begun {
  begun: Exclude<BeginOutcome, { outcome: 'stale' }>;
  step: StepBeginning;
  computed: { output: Json; seconds: number } | undefined;
  judgement: Judgement;
}

/**
 * Judges the step by the cached policies and claims it with the verdicts. If the policies have changed, the ledger
 * refuses and the step is judged again. So a change applies to the very next step, and unchanged policies cost no
 * query.
 */
async function beginJudged(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  claimed: { execution: string; claim: string },
): Promise<Begun> {
  const { workspace_id: workspaceId, workflow_id: workflowId, node, params, state } = call;
  let policies = deps.policies.known(workspaceId);
  for (let round = 0; round < MAX_REVISIONS; round += 1) {
    const { revision } = policies;
    const judgement = await judgeUntrusted(
      workspaceId,
      policies,
      { workflowId, node, params, state },
      { signal: attempt.signal, place: attempt.place },
    );
    const computed =
      judgement.refusal === undefined
        ? await computePure(deps, attempt, permitted(call, judgement))
        : undefined;
    const step: StepBeginning = {
      pendingWrites: call,
      ...claimed,
      claimMs: CLAIM_MS,
      stepKey: call.step_key,
      nodeId: node.id,
      label: nodeLabel(node),
      kind: node.kind,
      iteration: call.iteration,
      outputKey: outputKey(node),
      input: toStorable(inputOf(call, judgement)),
      queuedAt: attempt.scheduledAt,
      cost: costOfStep(deps, permitted(call, judgement)),
      judged: { workspaceId, revision, verdicts: judgement.verdicts },
    };
    const begun = await beginStep(deps.db, step, computed);
    if (begun.outcome !== 'stale') return { begun, step, computed, judgement };
    policies = await deps.policies.refresh(workspaceId);
  }
  throw ApplicationFailure.retryable("The workspace's policies keep changing");
}

/** The call, with only the values that the policies permit. */
const permitted = (call: StepCall, { params, state }: Judgement): StepCall => ({
  ...call,
  params,
  state,
});

/**
 * The output of a tool that only computes, before the step is claimed, so that the step costs one statement. Undefined
 * for all other nodes, and after an error: the regular attempt then counts the error.
 */
async function computePure(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
): Promise<{ output: Json; seconds: number } | undefined> {
  if (call.node.kind !== 'tool' || !isPureTool(call.node.tool_name)) return undefined;
  const began = performance.now();
  try {
    const { output } = await runNode(deps, attempt, call, {
      errors: 0,
      generation: 0,
      budgeted: false,
    });
    return { output: toStorable(output), seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    if (error instanceof NodeError) return undefined;
    throw error;
  }
}

interface Claim {
  claim: string;
  beginning: Beginning;
  customTool?: CustomTool | undefined;
  errors: number;
  generation: number;
  budgeted: boolean;
  counted: boolean;
  attempts: number;
}

async function attemptStep(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  judgement: Judgement,
  claim: Claim,
): Promise<Json> {
  const end = (spending: Consumption): StepEnd => ({
    runId: call.run_id,
    stepKey: call.step_key,
    nodeId: call.node.id,
    claim: claim.claim,
    counted: claim.counted,
    beginning: claim.beginning,
    spending: amountOf(spending),
  });
  const mayFallBack = async (model: string): Promise<boolean> => {
    const verdict = judgement.fallbackVerdict(model);
    if (verdict === undefined) return true;
    const step = { runId: call.run_id, stepKey: call.step_key, claim: claim.claim };
    await untilStored(attempt, () => recordStepVerdict(deps.db, step, verdict));
    return false;
  };
  const alive = keepAlive(deps, attempt, call, claim);
  const began = performance.now();
  let outcome: AttemptOutcome = 'retried';
  try {
    let result;
    try {
      if (judgement.refusal !== undefined) {
        throw new NodeError(judgement.refusal, { retryable: false });
      }
      if ((claim.attempts - claim.errors) % INFRASTRUCTURE_ATTEMPTS === 0) {
        const message = `Its worker was lost ${INFRASTRUCTURE_ATTEMPTS} times`;
        throw new NodeError(message, { retryable: false });
      }
      // The attempt may have been stopped while it waited to start; then nothing external must happen.
      attempt.signal.throwIfAborted();
      result = await runNode(deps, attempt, call, claim, mayFallBack);
    } catch (error) {
      if (attempt.signal.aborted) {
        const cancelled = attempt.isCancelled();
        if (cancelled) outcome = 'cancelled';
        return await stopStep(deps, end(spendingOf(error)), cancelled);
      }
      if (error instanceof WorkBusyError) return await stopStep(deps, end(NOTHING_SPENT), false);
      const failure = await failStep(deps, call, end(spendingOf(error)), error);
      if (failure.nonRetryable === true) outcome = 'failed';
      throw failure;
    }
    const output = toStorable(result.output);
    // A result of external work must not be lost because of a short database outage.
    const kept = await untilStored(attempt, () => finishStep(deps.db, end(result), output));
    outcome = 'success';
    if (kept !== undefined) return kept;
    throw ApplicationFailure.retryable('Another attempt at this step has taken over');
  } finally {
    alive.stop();
    deps.metrics?.ended(call.node.kind, outcome, (performance.now() - began) / 1000);
    deps.frames.wake(call.run_id);
  }
}

async function runNode(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  claim: Pick<Claim, 'errors' | 'generation' | 'budgeted' | 'customTool'>,
  mayFallBack?: (model: string) => Promise<boolean>,
): Promise<{ output: Json } & Consumption> {
  const { node } = call;
  const timeout = timeoutOf(node);
  const common = {
    workspaceId: call.workspace_id,
    workflowId: call.workflow_id,
    runId: call.run_id,
    stepKey: call.step_key,
    attempt: claim.errors + 1,
    idempotencyKey: `${call.run_id}:${call.step_key}:${claim.generation}`,
    budgeted: claim.budgeted,
    customTool: claim.customTool,
    params: call.params,
    state: call.state,
    place: attempt.place,
    signal: AbortSignal.any([attempt.signal, timeout.signal]),
  };
  try {
    const result =
      node.kind === 'agent'
        ? await deps.runners.agent({ ...common, node, mayFallBack })
        : await deps.runners.tool({ ...common, node });
    if (JSON.stringify(result.output).length > MAX_OUTPUT_BYTES) {
      throw new NodeError(`The output is larger than ${MAX_OUTPUT_BYTES} characters`, {
        retryable: false,
        consumption: result,
      });
    }
    return result;
  } catch (error) {
    if (!timeout.signal.aborted || attempt.signal.aborted) throw error;
    throw new NodeError(`Timed out after ${timeout.seconds} s`, {
      cause: error,
      consumption: spendingOf(error),
    });
  } finally {
    timeout.clear();
  }
}

/** Counts the error against the node's retries. The returned failure says when, if at all, Temporal retries. */
async function failStep(
  deps: ExecuteNodeDeps,
  call: StepCall,
  end: StepEnd,
  error: unknown,
): Promise<ApplicationFailure> {
  const message = toStorable(messageOf(error)) as string;
  if (!(error instanceof NodeError)) {
    const { run_id: runId, step_key: stepKey } = call;
    deps.log.error({ err: error, runId, stepKey }, 'a node failed with an unexpected error');
  }
  const retry = call.node.retry;
  const recorded = await recordStepError(deps.db, end, {
    message,
    retryable: error instanceof NodeError ? error.retryable : true,
    definite: error instanceof NodeError && error.definite,
    maxAttempts: retry?.max_attempts ?? 1,
  });
  if (recorded === undefined) {
    return ApplicationFailure.retryable('Another attempt at this step has taken over');
  }
  if (recorded.final) return ApplicationFailure.nonRetryable(message, FAILURE_NODE);
  const initial = (retry?.initial_interval_seconds ?? 1) * 1000;
  const delay = initial * (retry?.backoff ?? 2) ** (recorded.tries - 1);
  return ApplicationFailure.create({
    message,
    type: FAILURE_NODE,
    nextRetryDelay: Math.min(MAX_BACKOFF_MS, delay),
  });
}

/**
 * The attempt was stopped. Only a cancel also stops the step. Otherwise this worker shuts down, or a heartbeat came too
 * late and Temporal starts another attempt, which may be first.
 */
async function stopStep(deps: ExecuteNodeDeps, end: StepEnd, cancelled: boolean): Promise<never> {
  if (cancelled) {
    await cancelStep(deps.db, end);
    throw new CancelledFailure('Cancelled');
  }
  await releaseStep(deps.db, end);
  throw ApplicationFailure.retryable('The attempt was stopped before it ended');
}

/** An invalid amount counts as unknown, so that it cannot corrupt the ledger or reduce the sum. */
function amountOf(spending: Consumption): Consumption {
  const sound = Number.isSafeInteger(spending.costMicros) && spending.costMicros >= 0;
  return sound ? spending : { ...spending, costMicros: 0, unpriced: true };
}

function spendingOf(error: unknown): Consumption {
  return error instanceof NodeError ? error.consumption : NOTHING_SPENT;
}

function inputOf({ node }: StepCall, { stored }: Judgement): JsonObject {
  return node.kind === 'agent' ? { model: node.model, ...stored } : stored;
}

function timeoutOf(node: ExecutedNode) {
  const seconds = node.timeout_seconds ?? defaultTimeoutSeconds(node);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), seconds * 1000);
  return { seconds, signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Judging and computing may wait for a thread; heartbeats keep the attempt alive. */
async function heartbeating<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => attempt.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Heartbeats to Temporal and renews the claim in the ledger while the step runs. */
function keepAlive(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  { claim, beginning }: Claim,
): { stop: () => void } {
  let beats = 0;
  const timer = setInterval(() => {
    attempt.heartbeat();
    beats += 1;
    if (beats % 5 !== 0) return;
    const { run_id: runId, step_key: stepKey } = call;
    renewClaim(deps.db, { runId, stepKey, claim, claimMs: CLAIM_MS, beginning }).catch(
      (error: unknown) => {
        deps.log.warn({ err: error, runId, stepKey }, 'could not renew a claim');
      },
    );
  }, HEARTBEAT_MS);
  return { stop: () => clearInterval(timer) };
}

/** Retries during a database outage, until this attempt is stopped. */
async function untilStored<T>(attempt: Attempt, store: () => Promise<T>): Promise<T> {
  for (let delay = 100; ; delay = Math.min(delay * 2, 2_000)) {
    try {
      return await store();
    } catch (error) {
      if (attempt.signal.aborted) throw error;
      attempt.heartbeat();
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
