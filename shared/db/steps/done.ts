import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { Json } from '#shared/json.ts';
import { startedFrame } from '#shared/db/runs/pending-writes.ts';
import type { StepBeginning } from './beginning.ts';

/** Steps whose result exists before they are claimed, and the frames of a claim. */

/** The result of a step that has one before it is claimed. */
export interface Done {
  output: Json;
  /** The result is from another run's record. Neither policies nor budgets apply, because nothing is executed. */
  recorded?: RecordedEnd;
}

interface RecordedEnd {
  status: 'success' | 'failed' | 'unrecorded';
  error: string | null;
  kind: ErrorKind | null;
  /** The number of attempts that failed. */
  errors: number;
  model: string | null;
  /** The run that executed the step; null if the result is not from a record. */
  reusedFrom: string | null;
}

/** The frames of a step that starts and, with a result, ends. A turn has no frames. */
export function framesOf(
  step: StepBeginning,
  done: Done | undefined,
): { started?: StreamFrame; ended?: StreamFrame } {
  if (isTurn(step.agent)) return {};
  const runId = step.pendingWrites.run_id;
  const key = framedKey(step);
  const started = startedFrame(runId, step.nodeId, step.label, key);
  if (done === undefined) return { started };
  const { status = 'success', error } = done.recorded ?? {};
  const ended =
    status === 'success'
      ? completedFrame(runId, step.nodeId, key)
      : failedFrame(runId, step.nodeId, key, error ?? 'failed');
  return { started, ended };
}

/** Whether the step is a turn of an agent with tools. */
export const isTurn = (agent: AgentPart | undefined): boolean =>
  agent !== undefined && agent.call === undefined;

/** The step key in a step's frames. Only calls of agents have one, since they share a node. */
export const framedKey = (step: { agent?: AgentPart | undefined; stepKey: string }) =>
  step.agent?.call === undefined ? undefined : step.stepKey;

export function completedFrame(
  runId: string,
  nodeId: string,
  stepKey: string | undefined,
): StreamFrame {
  const completed = { run_id: runId, type: 'step_completed', node_id: nodeId } as const;
  return stepKey === undefined ? completed : { ...completed, step_key: stepKey };
}

export function failedFrame(
  runId: string,
  nodeId: string,
  stepKey: string | undefined,
  error: string,
): StreamFrame {
  const failed = { run_id: runId, type: 'step_failed', node_id: nodeId, error } as const;
  return stepKey === undefined ? failed : { ...failed, step_key: stepKey };
}
