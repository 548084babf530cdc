import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { AgentNode, ToolNode } from '../shared/contract/graph.ts';
import { blockedEvidence, blockedText } from '../shared/db/holds.ts';
import type { Pool } from '../shared/db/pool.ts';
import {
  beginStep,
  cancelStep,
  finishStep,
  recordStepError,
  renewClaim,
  type StepEnd,
} from '../shared/db/steps.ts';
import { messageOf } from '../shared/errors.ts';
import {
  FAILURE_BUDGET,
  FAILURE_NODE,
  FAILURE_RUN_GONE,
  type StepActivities,
  type StepCall,
} from '../shared/execution.ts';
import { nodeLabel, outputKey } from '../shared/graph/compile.ts';
import { type Json, type JsonObject, toStorable } from '../shared/json.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { pureTools } from '../shared/tools.ts';
import type { FrameNotifier } from './frame-notifier.ts';
import { type Consumption, NodeError, type NodeRunner } from './nodes/node.ts';

/** How often a step says that it is alive. Temporal passes on about one in 0.8 × the heartbeat timeout. */
const HEARTBEAT_MS = 1_000;
/** A claim not renewed for this long is dead; a resume waits no longer for it. */
const CLAIM_MS = 15_000;
const MAX_BACKOFF_MS = 3_600_000;
const MAX_OUTPUT_BYTES = 10_000_000;
const NOTHING_SPENT: Consumption = { costMicros: 0 };

export type AttemptOutcome = 'success' | 'failed' | 'retried' | 'cancelled';

export interface StepMetrics {
  ended(kind: string, outcome: AttemptOutcome, seconds: number): void;
}

export interface ExecuteNodeDeps {
  db: Pool;
  metrics?: StepMetrics;
  log: Logger;
  frames: FrameNotifier;
  runners: { agent: NodeRunner<AgentNode>; tool: NodeRunner<ToolNode> };
}

/**
 * One attempt at one step: claim it in the ledger, do the node's work, record what came of it. Three parts in one
 * activity, so that a step costs Temporal no more than a bare activity. Whoever finds the step finished returns
 * what is stored; only errors of the node use up its tries.
 */
export function createExecuteNode(deps: ExecuteNodeDeps): StepActivities['executeNode'] {
  return async (call) => {
    const context = Context.current();
    const { workflowExecution, attempt, currentAttemptScheduledTimestampMs } = context.info;
    const execution = workflowExecution?.runId ?? '';
    const claim = `${execution}/${attempt}/${randomUUID()}`;
    const computed = await computePure(deps, context, call);
    const begun = await beginStep(
      deps.db,
      {
        carriage: call,
        execution,
        claim,
        claimMs: CLAIM_MS,
        stepKey: call.step_key,
        nodeId: call.node.id,
        label: nodeLabel(call.node),
        kind: call.node.kind,
        iteration: call.iteration,
        outputKey: outputKey(call.node),
        input: toStorable(inputOf(call)),
        queuedAt: new Date(currentAttemptScheduledTimestampMs),
      },
      computed,
    );
    deps.frames.wake(call.run_id);
    switch (begun.outcome) {
      case 'finished':
        return begun.output;
      case 'failed':
        throw ApplicationFailure.nonRetryable(begun.error, FAILURE_NODE);
      case 'refused':
        throw ApplicationFailure.nonRetryable(
          'The run no longer wants this work',
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
          deps.metrics?.ended(call.node.kind, 'success', computed.seconds);
          return computed.output;
        }
        return attemptStep(deps, context, call, { claim, ...begun });
    }
  };
}

/**
 * What a tool that only computes gives, worked out before the step is claimed: the step then costs one statement.
 * Undefined for all others, and when it errs: then the ordinary way counts the error.
 */
async function computePure(
  deps: ExecuteNodeDeps,
  context: Context,
  call: StepCall,
): Promise<{ output: Json; seconds: number } | undefined> {
  if (call.node.kind !== 'tool' || !pureTools.has(call.node.tool_name)) return undefined;
  const began = performance.now();
  try {
    const { output } = await runNode(deps, context, call, {
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
  errors: number;
  generation: number;
  budgeted: boolean;
}

async function attemptStep(
  deps: ExecuteNodeDeps,
  context: Context,
  call: StepCall,
  claim: Claim,
): Promise<Json> {
  const end = (spending: Consumption): StepEnd => ({
    runId: call.run_id,
    stepKey: call.step_key,
    nodeId: call.node.id,
    claim: claim.claim,
    spending,
  });
  const alive = keepAlive(deps, context, call, claim.claim);
  const began = performance.now();
  let outcome: AttemptOutcome = 'retried';
  try {
    let result;
    try {
      result = await runNode(deps, context, call, claim);
    } catch (error) {
      if (context.cancellationSignal.aborted) {
        outcome = 'cancelled';
        return await stopStep(deps, context, end(spendingOf(error)));
      }
      const failure = await failStep(deps, call, end(spendingOf(error)), error);
      if (failure.nonRetryable === true) outcome = 'failed';
      throw failure;
    }
    const output = toStorable(result.output);
    // What was done outside must not be lost because the database is away for a moment.
    const kept = await untilStored(context, () => finishStep(deps.db, end(result), output));
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
  context: Context,
  call: StepCall,
  claim: Omit<Claim, 'claim'>,
): Promise<{ output: Json } & Consumption> {
  const { node } = call;
  if (node.kind !== 'agent' && node.kind !== 'tool') {
    throw new NodeError(`A ${node.kind} node is not executed`, { retryable: false });
  }
  const timeout = timeoutOf(node);
  const common = {
    workspaceId: call.workspace_id,
    workflowId: call.workflow_id,
    runId: call.run_id,
    stepKey: call.step_key,
    attempt: claim.errors + 1,
    idempotencyKey: `${call.run_id}:${call.step_key}:${claim.generation}`,
    budgeted: claim.budgeted,
    params: call.params,
    state: call.state,
    signal: AbortSignal.any([context.cancellationSignal, timeout.signal]),
  };
  try {
    const result =
      node.kind === 'agent'
        ? await deps.runners.agent({ ...common, node })
        : await deps.runners.tool({ ...common, node });
    if (JSON.stringify(result.output).length > MAX_OUTPUT_BYTES) {
      throw new NodeError(`The output is larger than ${MAX_OUTPUT_BYTES} characters`, {
        retryable: false,
        consumption: result,
      });
    }
    return result;
  } catch (error) {
    if (!timeout.signal.aborted || context.cancellationSignal.aborted) throw error;
    throw new NodeError(`Timed out after ${timeout.seconds} s`, {
      cause: error,
      consumption: spendingOf(error),
    });
  } finally {
    timeout.clear();
  }
}

/** Counts the error against the node's tries. The failure returned tells Temporal when, if at all, to try again. */
async function failStep(
  deps: ExecuteNodeDeps,
  call: StepCall,
  end: StepEnd,
  error: unknown,
): Promise<ApplicationFailure> {
  const message = toStorable(messageOf(error)) as string;
  if (!(error instanceof NodeError)) {
    const { run_id: runId, step_key: stepKey } = call;
    deps.log.error({ err: error, runId, stepKey }, 'a node failed in a way it should not');
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

/** The attempt was told to stop: by a cancel, or because this worker shuts down and another will go on. */
async function stopStep(deps: ExecuteNodeDeps, context: Context, end: StepEnd): Promise<never> {
  const details = context.cancellationDetails;
  if (details?.workerShutdown === true) {
    throw ApplicationFailure.retryable('The worker shuts down');
  }
  await cancelStep(deps.db, end);
  throw new CancelledFailure('Cancelled');
}

function spendingOf(error: unknown): Consumption {
  return error instanceof NodeError ? error.consumption : NOTHING_SPENT;
}

function inputOf(call: StepCall): JsonObject {
  return call.node.kind === 'agent' ? { model: call.node.model, ...call.params } : call.params;
}

function timeoutOf(node: AgentNode | ToolNode) {
  const seconds = node.timeout_seconds ?? (node.kind === 'agent' ? 600 : 60);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), seconds * 1000);
  return { seconds, signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Heartbeats to Temporal and renews the claim in the ledger for as long as the step is at work. */
function keepAlive(
  deps: ExecuteNodeDeps,
  context: Context,
  call: StepCall,
  claim: string,
): { stop: () => void } {
  let beats = 0;
  const timer = setInterval(() => {
    context.heartbeat();
    beats += 1;
    if (beats % 5 !== 0) return;
    const { run_id: runId, step_key: stepKey } = call;
    renewClaim(deps.db, { runId, stepKey, claim, claimMs: CLAIM_MS }).catch((error: unknown) => {
      deps.log.warn({ err: error, runId, stepKey }, 'could not renew a claim');
    });
  }, HEARTBEAT_MS);
  return { stop: () => clearInterval(timer) };
}

/** Tries again while the database is away, until this attempt is told to stop. */
async function untilStored<T>(context: Context, store: () => Promise<T>): Promise<T> {
  for (let delay = 100; ; delay = Math.min(delay * 2, 2_000)) {
    try {
      return await store();
    } catch (error) {
      if (context.cancellationSignal.aborted) throw error;
      context.heartbeat();
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
