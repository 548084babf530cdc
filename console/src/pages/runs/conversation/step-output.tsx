import { Text } from '@mantine/core';
import type { Step } from '#client/index.ts';
import { stepOutput as text } from '#console/src/messages/en/runs/conversation.ts';
import { stepTabs } from '#console/src/messages/en/runs/inspector.ts';
import { ValueView } from '#console/src/parts/json/value-view.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useLiveAnswer } from '#console/src/queries/live-answers.ts';
import { LiveText } from './live-text.tsx';

/** The output of a step, or the answer of its agent as it arrives, or that there is none; the error is above. */
export function StepOutput({ step, hasTurns }: { step: Step; hasTurns: boolean }) {
  const { output, status, kind } = step;
  const live = useLiveAnswer(step.step_key);
  const isAgent = kind === 'agent';
  if (output !== null || status === 'success') {
    return <ValueView value={output} what={stepTabs.theOutput} prose={isAgent} />;
  }
  if (status === 'running' && isAgent && !hasTurns && live !== undefined) {
    return <LiveText answer={live} />;
  }
  return <Dimmed>{reasonOf(status, isAgent)}</Dimmed>;
}

const reasonOf = (status: Step['status'], isAgent: boolean): string => {
  if (status === 'running' || status === 'paused') return text.notFinished;
  if (status === 'skipped') return text.skipped;
  return isAgent ? text.noAnswer : text.noOutput;
};

/** The length of a line in the tree. */
const LINE = 120;
/** The marks of Markdown that would make a line hard to read. */
const MARKS = /\*\*|`+|^#+ /gm;

/** The end of the text that a model is writing, in one line. Screen readers have the answer itself. */
export function LiveLine({ stepKey, turn }: { stepKey: string; turn: number | undefined }) {
  const live = useLiveAnswer(stepKey);
  if (live === undefined || (turn !== undefined && turn !== live.turn)) return null;
  return (
    <Text span size="xs" c="dimmed" className="trace-live" aria-hidden>
      <bdi>{live.text.slice(-LINE).replace(MARKS, '').replace(/\s+/g, ' ').trim()}</bdi>
    </Text>
  );
}
