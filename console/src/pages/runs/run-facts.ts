import { repeats } from '#shared/graph/kinds.ts';
import type { Run, Step } from '#client/index.ts';
import { stepNames } from '#console/src/messages/en/runs/steps.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { stepName } from './node-states.ts';
import { isNodeStep } from './steps/agent-steps.ts';

/** The effect of a resume on a failed run. */
export interface ResumeFacts {
  /** Names of the steps that run again. */
  again: string[];
  /** Number of completed steps that are kept. */
  kept: number;
  /** Why the run stopped, if the reason changes what to expect. */
  after: 'budget' | 'rejected' | 'cancelled' | 'other';
}

/**
 * The key of the step where a run failed: the first of the node in the failure, or else the last one that failed and
 * was not caught. A loop or map also fails because of a step in it.
 */
export function failingStep({
  steps,
  failure,
}: Pick<Run, 'steps' | 'failure'>): string | undefined {
  const failed = steps
    .filter(isNodeStep)
    .filter(({ status, caught }) => status === 'failed' && caught !== true);
  const step =
    failed.find(({ node_id: nodeId }) => nodeId === failure?.node_id) ??
    failed.findLast(({ kind }) => !repeats({ kind })) ??
    failed.at(-1);
  return step?.step_key;
}

/** Whether nothing of the run is in progress but waits. */
export function onlyWaits({
  status,
  steps,
  waiting,
}: Pick<Run, 'status' | 'steps' | 'waiting'>): boolean {
  if (status !== 'running' || waiting.length === 0) return status === 'paused';
  const waits = new Set(waiting.map(({ step_key: key }) => key));
  return steps.every(
    (step) => step.status !== 'running' || waits.has(step.step_key) || repeats(step),
  );
}

const unfinished: readonly Step['status'][] = ['failed', 'cancelled', 'running'];

export function resumeFacts(
  run: Pick<Run, 'steps' | 'failure'> & { step_counts?: Run['step_counts'] },
): ResumeFacts {
  const kind = run.failure?.kind;
  const after =
    kind === 'budget' || kind === 'rejected' || kind === 'cancelled' ? kind : ('other' as const);
  if (run.step_counts != null) return { ...countedFacts(run.step_counts), after };
  // A loop that failed in its body continues its iteration, and does no work itself.
  const again = run.steps
    .filter(isNodeStep)
    .filter(
      ({ status, kind, caught = false }) =>
        unfinished.includes(status) && !caught && !(repeats({ kind }) && status === 'running'),
    );
  return { again: again.map(stepName), kept: finishedSteps(run), after };
}

/** For a run with more steps than its record contains: by node. */
const countedFacts = (counts: NonNullable<Run['step_counts']>) => ({
  again: counts.flatMap(({ label, kind, caught, by_status }) => {
    const open = unfinished.reduce((sum, status) => sum + (by_status[status] ?? 0), 0) - caught;
    if (open === 0 || repeats({ kind })) return [];
    return [open === 1 ? label : stepNames.withCount(label, open)];
  }),
  kept: finishedCount(counts),
});

const finishedCount = (counts: NonNullable<Run['step_counts']>): number =>
  counts.reduce((sum, { by_status }) => sum + (by_status.success ?? 0), 0);

/** The effect of a cancel on a run that has not ended. */
export interface CancelFacts {
  /** Names of the steps that are cancelled. */
  stopped: string[];
  kept: number;
  /** Number of gates that close without a decision. */
  gates: number;
}

export function cancelFacts(
  run: Pick<Run, 'steps' | 'pending_gates'> & { step_counts?: Run['step_counts'] },
): CancelFacts {
  const stopped = run.steps
    .filter(isNodeStep)
    .filter(({ status, kind }) => status === 'running' && !repeats({ kind }));
  return {
    stopped: stopped.map(stepName),
    kept: run.step_counts == null ? finishedSteps(run) : finishedCount(run.step_counts),
    gates: run.pending_gates.length,
  };
}

const finishedSteps = ({ steps }: Pick<Run, 'steps'>): number =>
  steps.filter(isNodeStep).filter(({ status }) => status === 'success').length;

/** `“a”`, `“a” and “b”`, `“a”, “b” and 3 more`. */
export function namesText(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).map(stepNames.quoted);
  const more = names.length - shown.length;
  const all = more > 0 ? [...shown, stepNames.more(countText(more))] : shown;
  const last = all.at(-1) ?? '';
  return all.length < 2 ? last : stepNames.listed(all.slice(0, -1), last);
}

/** Whether the run has ended and nothing happens until a user acts. */
export const hasEnded = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'success' || status === 'failed';

/** The URL if it is HTTP or HTTPS, and so safe to link. */
export const webAddress = (url: string | null): string | undefined =>
  url !== null && /^https?:\/\//i.test(url) ? url : undefined;
