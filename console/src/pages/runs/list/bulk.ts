import { ApiError, type RunSummary } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { notApproved } from '#console/src/messages/en/runs/list.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';

export type BulkAction = 'cancel' | 'resume' | 'approve';

/** Requests at a time, so that an action on many runs leaves room for the other requests of this browser. */
const AT_ONCE = 4;

/** The statuses in which a run can be the object of the action. The service decides. */
const possible: Record<BulkAction, readonly RunSummary['status'][]> = {
  cancel: ['pending', 'running', 'paused'],
  resume: ['failed'],
  approve: ['running', 'paused'],
};

export const runsFor = (action: BulkAction, runs: readonly RunSummary[]): RunSummary[] =>
  runs.filter(({ status }) => possible[action].includes(status));

export interface BulkResult {
  done: number;
  /** Why the others were not. */
  refused: { run: RunSummary; reason: string }[];
}

/** Sends one request per run, each with the checks of a single one. `onProgress` counts the answers. */
export async function actOnAll(
  action: BulkAction,
  runs: readonly RunSummary[],
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

/** Undefined, or the reason why not. */
async function act(action: BulkAction, run: RunSummary): Promise<string | undefined> {
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
 * Approves the gate of a run if there is exactly one that needs nothing but a yes: a form and a tool call have to be read
 * first. Names the gate, so that another one that opens meanwhile is not approved.
 */
async function approve(runId: string): Promise<string | undefined> {
  const { pending_gates: gates } = await api().getRun(runId);
  const [gate, ...others] = gates;
  if (gate === undefined) return notApproved.noGate;
  if (others.length > 0) return notApproved.severalGates;
  if (gate.tool_call !== undefined) return notApproved.toolCall;
  if (gate.input_schema !== undefined) return notApproved.needsInput;
  await api().approve(runId, true, undefined, { nodeId: gate.node_id, stepKey: gate.step_key });
  return undefined;
}
