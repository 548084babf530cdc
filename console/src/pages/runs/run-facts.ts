import type { Run, Step } from '../../../../client/index.ts';
import { stepName } from './node-states.ts';

/** What a resume would do to a failed run. */
export interface ResumeFacts {
  /** The steps that are done again, by name. */
  again: string[];
  /** How many finished steps stay as they are. */
  kept: number;
  /** Why the run stopped, as far as it changes what to expect. */
  after: 'budget' | 'rejected' | 'cancelled' | 'other';
}

const unfinished: readonly Step['status'][] = ['failed', 'cancelled', 'running'];

export function resumeFacts(run: Pick<Run, 'steps' | 'failure'>): ResumeFacts {
  const kind = run.failure?.kind;
  const after =
    kind === 'budget' || kind === 'rejected' || kind === 'cancelled' ? kind : ('other' as const);
  // A loop that failed inside goes on with its iteration, and is no work by itself.
  const again = run.steps.filter(
    ({ status, kind }) => unfinished.includes(status) && !(kind === 'loop' && status === 'running'),
  );
  return { again: again.map(stepName), kept: finishedSteps(run), after };
}

/** What a cancel would do to a run that has not ended. */
export interface CancelFacts {
  /** The steps that are being cancelled, by name. */
  stopped: string[];
  kept: number;
  /** Gates that would not be asked any longer. */
  gates: number;
}

export function cancelFacts(run: Pick<Run, 'steps' | 'pending_gates'>): CancelFacts {
  const stopped = run.steps.filter(({ status, kind }) => status === 'running' && kind !== 'loop');
  return {
    stopped: stopped.map(stepName),
    kept: finishedSteps(run),
    gates: run.pending_gates.length,
  };
}

const finishedSteps = ({ steps }: Pick<Run, 'steps'>): number =>
  steps.filter(({ status }) => status === 'success').length;

/** `'a'`, `'a' and 'b'`, `'a', 'b' and 3 more`. */
export function namesText(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).map((name) => `'${name}'`);
  const more = names.length - shown.length;
  const all = more > 0 ? [...shown, `${more} more`] : shown;
  const last = all.at(-1) ?? '';
  return all.length < 2 ? last : `${all.slice(0, -1).join(', ')} and ${last}`;
}

/** Whether nothing is going to happen any more unless somebody acts. */
export const hasEnded = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'success' || status === 'failed';

/** The address, if it is one that a browser may be sent to. */
export const webAddress = (url: string | null): string | undefined =>
  url !== null && /^https?:\/\//i.test(url) ? url : undefined;
