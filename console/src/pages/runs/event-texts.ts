import type { RunEvent, Step } from '../../../../client/index.ts';

/** The text of a frame. `userText` is text from users and models. Nodes are named by their labels. */
export function eventText(
  { frame }: RunEvent,
  labelOf: (nodeId: string) => string,
): { text: string; userText: string | undefined } {
  switch (frame.type) {
    case 'step_started':
      return { text: 'Step started', userText: frame.label };
    case 'step_completed':
      return { text: 'Step completed', userText: labelOf(frame.node_id) };
    case 'step_failed':
      return { text: 'Step failed', userText: `${labelOf(frame.node_id)}: ${frame.error}` };
    case 'run_paused':
      return {
        text: 'Waiting for approval',
        userText: `${labelOf(frame.node_id)}: ${frame.prompt}`,
      };
    case 'run_completed':
      return { text: 'Run completed', userText: undefined };
    case 'run_failed':
      return { text: 'Run failed', userText: frame.error };
    case 'run_evaluated':
      return { text: `Checks passed: ${frame.passed} of ${frame.total}`, userText: undefined };
  }
}

/**
 * The step of a frame. Frames name the node, not its iteration, so it is the step of that node whose start or end is
 * nearest to the frame; undefined if there is none.
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
  // The steps of a node are in time order.
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
