import type { RunEvent, Step } from '#client/index.ts';
import { events as texts } from '#console/src/messages/en/runs/run.ts';
import { countText } from '#console/src/parts/text/numbers.ts';

/**
 * The text of a frame. `userText` is text from users and models. Nodes are named by their labels, and so are calls of
 * an agent, whose frames have a step key. A run that was cancelled fails, too: `wasCancelled` says so.
 */
export function eventText(
  { frame }: RunEvent,
  labelOf: (key: string) => string,
  wasCancelled = false,
): { text: string; userText: string | undefined } {
  const label = 'node_id' in frame ? labelOf(frame.step_key ?? frame.node_id) : '';
  switch (frame.type) {
    case 'step_started':
      return { text: texts.stepStarted, userText: frame.label };
    case 'step_completed':
      return { text: texts.stepCompleted, userText: label };
    case 'step_failed':
      return { text: texts.stepFailed, userText: `${label}: ${frame.error}` };
    case 'run_paused':
      return {
        text: texts.runPaused,
        userText: `${label}: ${frame.prompt}`,
      };
    case 'agent_turn':
      return { text: texts.turn(frame.turn), userText: callsText(label, frame.calls) };
    case 'child_paused':
      return { text: texts.childPaused, userText: label };
    case 'child_continued':
      return { text: texts.childContinued, userText: label };
    case 'run_completed':
      return { text: texts.runCompleted, userText: undefined };
    case 'run_failed':
      return { text: wasCancelled ? texts.runCancelled : texts.runFailed, userText: frame.error };
    case 'run_evaluated':
      return {
        text: texts.checksPassed(countText(frame.passed), countText(frame.total)),
        userText: undefined,
      };
  }
}

const callsText = (agent: string, calls: number): string =>
  calls === 0 ? texts.answered(agent) : texts.calls(agent, calls);

/**
 * The step of a frame. Frames contain the node but not its iteration, so this is the node's step whose start or end is
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
