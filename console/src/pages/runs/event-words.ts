import type { RunEvent, Step } from '../../../../client/index.ts';

/** What a frame says, in words; `foreign` is what others wrote. Nodes go by their labels, as everywhere on the page. */
export function eventWords(
  { frame }: RunEvent,
  labelOf: (nodeId: string) => string,
): { words: string; foreign: string | undefined } {
  switch (frame.type) {
    case 'step_started':
      return { words: 'Step started', foreign: frame.label };
    case 'step_completed':
      return { words: 'Step completed', foreign: labelOf(frame.node_id) };
    case 'step_failed':
      return { words: 'Step failed', foreign: `${labelOf(frame.node_id)}: ${frame.error}` };
    case 'run_paused':
      return {
        words: 'Waiting for a person',
        foreign: `${labelOf(frame.node_id)}: ${frame.prompt}`,
      };
    case 'run_completed':
      return { words: 'Run completed', foreign: undefined };
    case 'run_failed':
      return { words: 'Run failed', foreign: frame.error };
    case 'run_evaluated':
      return { words: `Checks passed: ${frame.passed} of ${frame.total}`, foreign: undefined };
  }
}

/**
 * The step that a frame tells of. Frames name the node, not its round, so it is the step of that node whose beginning
 * or end is nearest to the frame; undefined when there is none.
 */
export function stepOfEvent(
  { at, frame }: RunEvent,
  stepsOf: (nodeId: string) => readonly Step[],
): Step | undefined {
  if (!('node_id' in frame)) return undefined;
  const time = Date.parse(at);
  const begins = frame.type === 'step_started' || frame.type === 'run_paused';
  const moment = ({ started_at, finished_at }: Step): number =>
    Date.parse(begins ? started_at : (finished_at ?? started_at));
  const steps = stepsOf(frame.node_id);
  // Steps of a node follow each other in time.
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (moment(steps[middle]!) < time) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [steps[low - 1], steps[low]];
  if (before === undefined || after === undefined) return before ?? after;
  return time - moment(before) < moment(after) - time ? before : after;
}
