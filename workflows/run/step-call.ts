import {
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import {
  FAILURE_MOVES,
  FAILURE_OVERFLOWS,
  type MoveToLongLane,
  type RunGraphInput,
  type ShortStepActivities,
  type ShortStepResult,
  type StepActivities,
  type StepCall,
} from '#shared/execution.ts';
import type { AgentPart, PendingWrites } from '#shared/graph/call-parts.ts';
import { guardKey } from '#shared/graph/guards.ts';
import { defaultTimeoutSeconds, type ExecutedNode } from '#shared/graph/kinds.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import { customToolName, MAX_TOOL_TIMEOUT_SECONDS } from '#shared/tools.ts';
import { causeOf } from '#workflows/cause.ts';
import { longestAttemptMs } from '#workflows/local-attempts.ts';
import type { PreparedStep } from '#shared/graph/prepare/step.ts';

/**
 * Temporal's retries beyond the node's own attempts: the step may wait for room under a cap or a budget, or the
 * database may be unavailable. The ledger counts the deaths of its worker.
 */
const EXTRA_ATTEMPTS = 10_000;
/**
 * How long an attempt may take beyond the node's own timeout, which it enforces itself, before its worker counts as
 * lost.
 */
const GRACE_MS = 15_000;

/**
 * Executes a step in the long lane, as an activity. Its retry policy covers a killed worker or an unavailable database.
 * The ledger counts the node's own retries, and each failure contains the delay before the next one.
 */
export function executeStep(
  input: RunGraphInput,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  prepared: PreparedStep,
  pendingWrites: PendingWrites & Pick<StepCall, 'bound' | 'asks' | 'waited' | 'withdrawn'>,
  { costly = false, overflow = false }: { costly?: boolean; overflow?: boolean } = {},
): Promise<Json> {
  const { node, label } = prepared;
  const { executeNode } = proxyActivities<StepActivities>({
    taskQueue: overflow ? input.overflow_task_queue : input.steps_task_queue,
    activityId: step.step_key,
    summary: summaryOf(label),
    startToCloseTimeout: longestSeconds(node) * 1000 + GRACE_MS,
    heartbeatTimeout: input.limits.heartbeat_timeout_ms,
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      maximumAttempts: (node.retry?.max_attempts ?? 1) + EXTRA_ATTEMPTS,
    },
  });
  return executeNode({
    ...callOf(input, step, prepared, pendingWrites),
    ...(costly ? { costly } : {}),
    ...(overflow ? {} : { may_overflow: true }),
  });
}

/** Whether the failure of a step means that it continues in the overflow queue. */
export function overflows(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure && cause.type === FAILURE_OVERFLOWS;
}

/**
 * Makes one attempt at a step in the short lane, as a local activity. It ends on its own long before its timeout, which
 * includes the wait for a slot. See `moveOf` for its failures.
 */
export function executeShortStep(
  input: RunGraphInput,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  prepared: PreparedStep,
  pendingWrites: PendingWrites,
): Promise<ShortStepResult> {
  const local = proxyLocalActivities<ShortStepActivities>({
    summary: summaryOf(prepared.label),
    scheduleToCloseTimeout: longestAttemptMs(),
    retry: { maximumAttempts: 1 },
  });
  return local.executeShortStep(callOf(input, step, prepared, pendingWrites));
}

/** How a step continues after its short attempt failed; undefined when the step itself has failed or was cancelled. */
export function moveOf(error: unknown): Partial<MoveToLongLane> | undefined {
  if (isCancellation(error)) return undefined;
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure)) return {};
  if (cause.type === FAILURE_MOVES) return (cause.details?.[0] ?? {}) as MoveToLongLane;
  return cause.nonRetryable === true ? undefined : {};
}

/** The UI shows one line. */
export const summaryOf = (label: string): string => label.slice(0, 180);

/** What a step of a rehearsal or fork needs to know, for a node, or for a turn or call of an agent. */
export const recordOf = (
  { rehearsal, reuses = [] }: RunGraphInput,
  { step_key: stepKey, node_id: nodeId }: { step_key: string; node_id: string },
  agent?: AgentPart,
): Pick<StepCall, 'rehearsal' | 'reuses'> => {
  if (rehearsal === undefined) {
    return reuses.includes(agent?.step_key ?? stepKey) ? { reuses: true } : {};
  }
  const { failed: _failed, guarded, ...rules } = rehearsal;
  if (guarded === undefined) return { rehearsal: rules };
  const tool = agent?.tool;
  const keys = tool === undefined ? [nodeId] : [nodeId, guardKey(nodeId, tool)];
  const key = keys.find((each) => Object.hasOwn(guarded, each));
  return { rehearsal: { ...rules, guard: key === undefined ? null : guarded[key]! } };
};

const callOf = (
  input: RunGraphInput,
  { step_key, iteration }: Pick<ReadyNode, 'step_key' | 'iteration'>,
  { node, params, state, secrets, agent }: PreparedStep,
  pendingWrites: PendingWrites,
): StepCall => ({
  ...pendingWrites,
  ...(agent === undefined ? {} : { agent }),
  ...(secrets === undefined ? {} : { secrets }),
  node,
  params,
  state,
  workspace_id: input.workspace_id,
  workflow_id: input.workflow_id,
  step_key,
  iteration,
  ...recordOf(input, { step_key, node_id: node.id }, agent),
});

function longestSeconds(node: ExecutedNode): number {
  if (node.timeout_seconds !== undefined) return node.timeout_seconds;
  const custom = node.kind === 'tool' && customToolName(node.tool_name) !== undefined;
  // A custom tool has its own timeout, which is unknown here.
  return custom ? MAX_TOOL_TIMEOUT_SECONDS : defaultTimeoutSeconds(node);
}
