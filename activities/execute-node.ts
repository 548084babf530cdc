import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { type CustomTool, findCustomTool, targetOf } from '#shared/db/tools/custom-tools.ts';
import { blockedEvidence, blockedText } from '#shared/db/money/blocked.ts';
import type { Pool } from '#shared/db/pool.ts';
import {
  cancelStep,
  finishStep,
  recordStepError,
  releaseStep,
  renewClaim,
  type StepEnd,
} from '#shared/db/steps/step-ends.ts';
import { messageOf } from '#shared/errors.ts';
import {
  FAILURE_BUDGET,
  FAILURE_NODE,
  type FailureDetails,
  INFRASTRUCTURE_ATTEMPTS,
  type StepCall,
} from '#shared/execution.ts';
import { retryDelayMs } from '#shared/graph/kinds.ts';
import { laneOf } from '#shared/graph/lanes.ts';
import { type Json, toStorable } from '#shared/json.ts';
import { withEffects } from '#shared/platform/egress/effects.ts';
import { WorkBusyError } from '#shared/platform/threads/threads.ts';
import { CostlyError } from '#shared/platform/threads/untrusted.ts';
import type { Judgment } from '#shared/policies/judge.ts';
import { outdatedApproval } from '#shared/graph/gates/rejection.ts';
import { CODE, customToolName } from '#shared/tools.ts';
import type { Attempt } from './attempt.ts';
import { type Consumption, NodeError } from './nodes/node.ts';
import { runNode } from './run-node.ts';
import {
  type AttemptOutcome,
  type Claim,
  CLAIM_MS,
  type ExecuteNodeDeps,
  NOTHING_SPENT,
  spendingOf,
} from './step-context.ts';
import type { TurnContext } from './agents/turn.ts';
import {
  agentProgress,
  keepCalls,
  prepareAgentPart,
  reportAgentPart,
  turnFrame,
} from './agents/part.ts';
import { runGone } from './final-errors.ts';
import type { CallLimit } from '#shared/contract/policies/policy.ts';
import { endWait, noSlot, notifyWaiting, withdrawCall } from './call-limits.ts';
import { fallbacksOf } from './fallbacks.ts';
import { beginJudged, permitted, waiting } from './begin-judged.ts';
import { annotateOutcome, recordComputedStep, tracedStep } from './spans.ts';
import { effectsOf } from './rehearsals/records.ts';
import { rehearseStep } from './rehearsals/steps.ts';
import { missingAccount, waitForSignIn } from './sign-in-waits.ts';
import { readStepSecrets } from './step-secrets.ts';
import { permitOwn } from './own-approval.ts';
import { whileAlive } from './until-stored.ts';

/** How often a step reports that it is alive. Temporal forwards about one report in 0.8 × the heartbeat timeout. */
const HEARTBEAT_MS = 1_000;

/**
 * One attempt at one step: judges it by the policies, claims it in the ledger, executes the node and records the
 * outcome. It is all one activity, so that a step costs Temporal no more than a bare activity. An attempt that finds
 * the step finished returns the stored output. Only errors of the node use up its retries.
 */
export function createExecuteNode(
  deps: ExecuteNodeDeps,
): (asked: StepCall, attempt: Attempt) => Promise<Json> {
  return async (asked, attempt) => {
    if (asked.withdrawn === true) return withdrawCall(deps, asked);
    const recorded = await rehearseStep(deps, attempt, asked);
    if (recorded !== undefined) return recorded.output;
    if (asked.rehearsal !== undefined) requireItsLane(asked, attempt);
    const { customTool, call: known } = await withCustomTool(deps.db, asked);
    const own = await permitOwn(deps, attempt, known, customTool);
    if (own !== undefined) {
      return executeStep(deps, attempt, own.call, { customTool, approval: own.approval });
    }
    const prepared = await prepareAgentPart(deps, known, attempt);
    if (prepared === undefined) return agentProgress(known, undefined);
    const { call, turn, approval } = prepared;
    const execute = (): Promise<Json> =>
      executeStep(deps, attempt, call, { customTool, approval, turn });
    const effects = effectsOf(call);
    return effects === undefined ? execute() : withEffects(effects, execute);
  };
}

/**
 * In a rehearsal, every step first looks for its recorded result in the short lane. Throws if it must be executed in
 * the other lane.
 */
function requireItsLane({ node }: StepCall, { place }: Attempt): void {
  if (place !== 'here' || laneOf(node) === 'short') return;
  throw ApplicationFailure.retryable('It has no record, and is executed in the long lane');
}

async function executeStep(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  given: StepCall,
  { customTool, approval, turn }: Pick<Claim, 'customTool' | 'approval' | 'turn'>,
): Promise<Json> {
  const secrets = await readStepSecrets(deps, given, customTool);
  const { execution } = attempt;
  const claim = `${execution}/${attempt.number}/${randomUUID()}`;
  const aliases = customTool?.kind === 'code' ? [CODE] : [];
  const { begun, step, computed, judgment, prices, limits } = await heartbeating(attempt, () =>
    beginJudged(deps, attempt, given, { execution, claim, aliases }, turn),
  );
  deps.frames.wake(given.run_id);
  switch (begun.outcome) {
    case 'finished':
      return agentProgress(given, begun.output);
    case 'failed':
      throw ApplicationFailure.nonRetryable(begun.error, FAILURE_NODE, begun.details);
    case 'waits':
      throw waiting(attempt.number);
    case 'no_slot':
      throw noSlot(deps, begun);
    case 'refused':
      throw runGone();
    case 'blocked':
      throw ApplicationFailure.nonRetryable(
        blockedText(begun.blocked),
        FAILURE_BUDGET,
        blockedEvidence(begun.blocked),
      );
    case 'begun': {
      endWait(deps, begun);
      const span = { call: given, attempt: begun.attempts, resumes: begun.epoch };
      if (computed !== undefined) {
        deps.metrics?.ended(given.node.kind, 'success', computed.seconds);
        recordComputedStep(span, computed.seconds);
        return computed.output;
      }
      return reportAgentPart(given, { refused: judgment.refusal !== undefined }, () =>
        tracedStep(span, () =>
          attemptStep(deps, attempt, permitted(given, judgment), judgment, {
            claim,
            given,
            beginning: { step, attempt: begun.attempts },
            customTool,
            approval,
            secrets,
            turn,
            prices,
            limits,
            limited: (step.judged.calls ?? []).length > 0,
            ...begun,
          }),
        ),
      );
    }
  }
}

/**
 * The custom tool that the step calls, and the call with the tool's defaults for settings that the node omits. They are
 * read before the step is claimed, so that a database outage does not use up a retry of the node.
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

/**
 * Throws a final NodeError for a step that the policies refuse, and for an approved call whose tool has changed since
 * the call was requested.
 */
function requirePermitted(
  { agent }: StepCall,
  { refusal }: Judgment,
  { approval, customTool }: Pick<Claim, 'approval' | 'customTool'>,
): void {
  if (refusal !== undefined) throw new NodeError(refusal, { retryable: false, kind: 'policy' });
  if (approval === undefined) return;
  const digest = customTool === undefined ? null : jsonDigest(targetOf(customTool));
  if (digest === approval.toolDigest) return;
  throw new NodeError(outdatedApproval(agent?.tool), { retryable: false });
}

/** Throws a final NodeError for a step that has killed its workers. */
function requireWorkers({ attempts, errors }: Pick<Claim, 'attempts' | 'errors'>): void {
  if ((attempts - errors) % INFRASTRUCTURE_ATTEMPTS !== 0) return;
  const message = `Its worker was lost ${INFRASTRUCTURE_ATTEMPTS} times`;
  throw new NodeError(message, { retryable: false });
}

async function attemptStep(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  judgment: Judgment,
  /** `given`: the step as it was requested, before policies redacted it. */
  claim: Claim & { given: StepCall; limits: readonly CallLimit[] },
): Promise<Json> {
  const end = (spending: Consumption): StepEnd => ({
    runId: call.run_id,
    stepKey: call.step_key,
    nodeId: call.node.id,
    agent: call.agent,
    claim: claim.claim,
    counted: claim.counted,
    limited: claim.limited || fallbacks.hasTaken(),
    notify: notifyWaiting(deps),
    beginning: claim.beginning,
    spending: amountOf(spending),
  });
  const fallbacks = fallbacksOf(deps, attempt, call, { judgment, claim });
  const alive = keepAlive(deps, attempt, call, claim);
  const began = performance.now();
  let outcome: AttemptOutcome = 'retried';
  try {
    let result;
    try {
      requirePermitted(call, judgment, claim);
      requireWorkers(claim);
      // The attempt may have been stopped while it waited to start; then nothing external must happen.
      attempt.signal.throwIfAborted();
      const turn = await readBefore(claim.turn);
      result = await runNode(deps, attempt, call, { ...claim, turn }, fallbacks.mayFallBack);
    } catch (error) {
      if (attempt.signal.aborted) {
        const cancelled = attempt.isCancelled();
        if (cancelled) outcome = 'cancelled';
        return await stopStep(deps, end(spendingOf(error)), cancelled);
      }
      if (isUnspent(error)) {
        return await stopStep(deps, end(NOTHING_SPENT), false);
      }
      const failure = await waitOrFail(deps, attempt, call, end(spendingOf(error)), error);
      if (failure.nonRetryable === true && failure.type === FAILURE_NODE) outcome = 'failed';
      throw failure;
    }
    const output = toStorable(result.output);
    const frame = turnFrame(call, result);
    // A result of external work must not be lost because of a short database outage. The same object in every try: a try
    // whose outcome is unknown is looked up before the next one.
    const ending = end(result);
    const kept = await whileAlive(attempt, () => finishStep(deps.db, ending, output, frame));
    outcome = 'success';
    if (kept === output) keepCalls(deps, call, attempt, output);
    if (kept !== undefined) return kept;
    throw ApplicationFailure.retryable('Another attempt at this step has taken over');
  } finally {
    alive.stop();
    recordOutcome(deps, call, outcome, (performance.now() - began) / 1000);
    deps.frames.wake(call.run_id);
  }
}

/** Whether the attempt ended before its work began, so that it counts as not made. */
const isUnspent = (error: unknown): boolean =>
  error instanceof WorkBusyError || error instanceof CostlyError || error instanceof UnreadError;

/** The conversation could not be read, so the model was not called. The step waits for its next attempt. */
class UnreadError extends Error {}

async function readBefore(turn: Claim['turn']): Promise<TurnContext | undefined> {
  try {
    return await turn;
  } catch (error) {
    if (error instanceof NodeError) throw error;
    throw new UnreadError(messageOf(error), { cause: error });
  }
}

function recordOutcome(
  deps: ExecuteNodeDeps,
  call: StepCall,
  outcome: AttemptOutcome,
  seconds: number,
): void {
  deps.metrics?.ended(call.node.kind, outcome, seconds);
  annotateOutcome(outcome);
}

/** Lets a step wait if only a sign-in is missing, which counts as no attempt. Returns the failure that says so, or that of the step. */
async function waitOrFail(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  end: StepEnd,
  error: unknown,
): Promise<ApplicationFailure> {
  const account = missingAccount(call, error);
  const waits = account && (await waitForSignIn(deps, attempt, call, account));
  if (!(waits instanceof ApplicationFailure)) return failStep(deps, call, end, waits ?? error);
  await releaseStep(deps.db, end);
  return waits;
}

/** Counts the error against the node's retries. The returned failure says whether and when Temporal retries. */
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
  const kind = error instanceof NodeError ? error.kind : 'node';
  const asked = error instanceof NodeError ? error.retryAfterMs : 0;
  const recorded = await recordStepError(deps.db, end, {
    message,
    kind,
    retryable: error instanceof NodeError ? error.retryable : true,
    definite: error instanceof NodeError && error.definite,
    maxAttempts: retry?.max_attempts ?? 1,
  });
  if (recorded === undefined) {
    return ApplicationFailure.retryable('Another attempt at this step has taken over');
  }
  if (recorded.final) {
    const details: FailureDetails = { kind, attempts: recorded.tries };
    return ApplicationFailure.nonRetryable(message, FAILURE_NODE, details);
  }
  return ApplicationFailure.create({
    message,
    type: FAILURE_NODE,
    nextRetryDelay: Math.max(retryDelayMs(retry, recorded.tries), asked),
  });
}

/**
 * Stops the attempt. Only a cancel also stops the step. Otherwise this worker is shutting down, or a heartbeat came too
 * late and Temporal starts another attempt, which may already have the claim.
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

/** Judging and computing may wait for a thread. In the meantime, heartbeats keep the attempt alive. */
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
