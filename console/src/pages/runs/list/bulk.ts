import { ApiError, type Approval, type ListedRun } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { notApproved } from '#console/src/messages/en/runs/list.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';

export type BulkAction = 'cancel' | 'resume' | 'approve';

/** Concurrent requests. The limit leaves room for the browser's other requests during an action on many runs. */
const AT_ONCE = 4;

/** The statuses in which an action on a run is possible. The service decides. */
const possible: Record<BulkAction, readonly ListedRun['status'][]> = {
  cancel: ['pending', 'running', 'paused'],
  resume: ['failed'],
  approve: ['running', 'paused'],
};

/** The open gates of the workspace: all of them, or the first ones. */
export interface OpenGates {
  gates: readonly Approval[];
  complete: boolean;
}

export const runsFor = (
  action: BulkAction,
  runs: readonly ListedRun[],
  open: OpenGates,
): ListedRun[] =>
  runs.filter(
    (run) =>
      possible[action].includes(run.status) && (action !== 'approve' || isApprovable(run, open)),
  );

/** Whether the run waits for one decision that needs nothing but a yes. A gate that is not known may be one. */
function isApprovable({ id, status }: ListedRun, { gates, complete }: OpenGates): boolean {
  const [gate, ...others] = gates.filter(({ run_id: runId }) => runId === id);
  if (gate === undefined) return !complete && status === 'paused';
  return others.length === 0 && gate.tool_call === undefined && gate.input_schema === undefined;
}

export interface BulkResult {
  done: number;
  /** Why the others were not successful. */
  refused: { run: ListedRun; reason: string }[];
}

/** Sends one request per run, each with the checks for a single run. `onProgress` counts the responses. */
export async function actOnAll(
  action: BulkAction,
  runs: readonly ListedRun[],
  onProgress: (answered: number) => void,
): Promise<BulkResult> {
  const result: BulkResult = { done: 0, refused: [] };
  const waiting = [...runs];
  const work = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      const reason = await act(action, run);
      if (reason === undefined) result.done += 1;
      else result.refused.push({ run, reason });
      onProgress(result.done + result.refused.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return result;
}

/** Undefined on success; otherwise the reason. */
async function act(action: BulkAction, run: ListedRun): Promise<string | undefined> {
  try {
    if (action === 'cancel') await api().cancel(run.id);
    else if (action === 'resume') await api().resume(run.id);
    else return await approve(run.id);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof ApiError ? error.detail : describeError(error);

/**
 * Approves the gate of a run if there is exactly one, and it needs nothing but a yes: a form or a tool call must be
 * read first. The request contains the gate, so that another one that opens in the meantime is not approved, and
 * its digest, so that nothing else follows than what it shows now.
 */
async function approve(runId: string): Promise<string | undefined> {
  const { pending_gates: gates } = await api().getRun(runId);
  const [gate, ...others] = gates;
  if (gate === undefined) return notApproved.noGate;
  if (others.length > 0) return notApproved.severalGates;
  if (gate.tool_call !== undefined) return notApproved.toolCall;
  if (gate.input_schema !== undefined) return notApproved.needsInput;
  const { node_id: nodeId, step_key: stepKey } = gate;
  const { digest } = await api().getGate(runId, stepKey);
  await api().approve(runId, true, undefined, { nodeId, stepKey, digest: digest ?? undefined });
  return undefined;
}
