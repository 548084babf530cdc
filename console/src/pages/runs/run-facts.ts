import { repeats } from '../../../../shared/graph/kinds.ts';
import type { Run, Step } from '../../../../client/index.ts';
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

const unfinished: readonly Step['status'][] = ['failed', 'cancelled', 'running'];

export function resumeFacts(run: Pick<Run, 'steps' | 'failure'>): ResumeFacts {
  const kind = run.failure?.kind;
  const after =
    kind === 'budget' || kind === 'rejected' || kind === 'cancelled' ? kind : ('other' as const);
  // A loop that failed in its body continues its iteration, and does no work itself.
  const again = run.steps
    .filter(isNodeStep)
    .filter(
      ({ status, kind, caught = false }) =>
        unfinished.includes(status) && !caught && !(repeats({ kind }) && status === 'running'),
    );
  return { again: again.map(stepName), kept: finishedSteps(run), after };
}

/** The effect of a cancel on a run that has not ended. */
export interface CancelFacts {
  /** Names of the steps that are cancelled. */
  stopped: string[];
  kept: number;
  /** Number of gates that close without a decision. */
  gates: number;
}

export function cancelFacts(run: Pick<Run, 'steps' | 'pending_gates'>): CancelFacts {
  const stopped = run.steps
    .filter(isNodeStep)
    .filter(({ status, kind }) => status === 'running' && !repeats({ kind }));
  return {
    stopped: stopped.map(stepName),
    kept: finishedSteps(run),
    gates: run.pending_gates.length,
  };
}

const finishedSteps = ({ steps }: Pick<Run, 'steps'>): number =>
  steps.filter(isNodeStep).filter(({ status }) => status === 'success').length;

/** `'a'`, `'a' and 'b'`, `'a', 'b' and 3 more`. */
export function namesText(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).map((name) => `'${name}'`);
  const more = names.length - shown.length;
  const all = more > 0 ? [...shown, `${more} more`] : shown;
  const last = all.at(-1) ?? '';
  return all.length < 2 ? last : `${all.slice(0, -1).join(', ')} and ${last}`;
}

/** Whether the run has ended and nothing happens until a user acts. */
export const hasEnded = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'success' || status === 'failed';

/** The URL if it is HTTP or HTTPS, and so safe to link. */
export const webAddress = (url: string | null): string | undefined =>
  url !== null && /^https?:\/\//i.test(url) ? url : undefined;
