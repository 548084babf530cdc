import './runs.css';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Run, RunEvent, Step } from '#client/index.ts';
import { locale } from '#console/src/messages/en/locale.ts';
import { eventLog as texts } from '#console/src/messages/en/runs/run.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { runEventsQuery } from '#console/src/queries/runs.ts';
import { eventText, stepOfEvent } from './event-texts.ts';
import { stepsByNode } from './node-states.ts';
import { isNodeStep } from './steps/agent-steps.ts';
import { PickList } from './pick-list.tsx';
import type { Selection } from './use-selection.ts';

const ROW_HEIGHT = 30;
const clock = new Intl.DateTimeFormat(locale, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

interface EventLogProps {
  run: Run;
  /** The key of the selected step. */
  chosen: string | undefined;
  select: Selection['select'];
}

/** The events of the run's stream, newest at the bottom. */
export function EventLog(props: EventLogProps) {
  const query = useQuery(runEventsQuery(props.run.id));
  return <Loaded query={query}>{(events) => <Events events={events} {...props} />}</Loaded>;
}

function Events({ events, run, chosen, select }: EventLogProps & { events: RunEvent[] }) {
  const lines = useMemo(() => {
    const labels = new Map(
      run.steps.flatMap((step) => [
        [step.step_key, step.label] as const,
        ...(isNodeStep(step) ? [[step.node_id, step.label] as const] : []),
      ]),
    );
    const last = run.failure?.kind === 'cancelled' ? run.error : null;
    return events.map((event) => {
      const { frame } = event;
      // A run that was cancelled can have failed before, and been resumed.
      const cancelled = frame.type === 'run_failed' && frame.error === last;
      return lineOf(event, (key) => labels.get(key) ?? key, cancelled);
    });
  }, [events, run.steps, run.failure, run.error]);
  const keys = useMemo(() => stepKeys(events, run.steps), [events, run.steps]);
  if (lines.length === 0) {
    return <Empty {...texts.empty} />;
  }
  const picked = chosen === undefined ? -1 : keys.indexOf(chosen);
  return (
    <PickList
      label={texts.label}
      count={lines.length}
      rowHeight={ROW_HEIGHT}
      maxHeight={16 * ROW_HEIGHT}
      picked={picked === -1 ? undefined : picked}
      onPick={(row) => {
        if (keys[row] !== undefined) select(keys[row]);
      }}
      isPicked={(row) => chosen !== undefined && keys[row] === chosen}
      row={(row) => lines[row] !== undefined && <LineRow line={lines[row]} />}
      keepAtEnd
    />
  );
}

interface Line {
  event: RunEvent;
  time: string;
  text: string;
  userText: string | undefined;
  cancelled: boolean;
}

function lineOf(event: RunEvent, labelOf: (nodeId: string) => string, cancelled: boolean): Line {
  const { text, userText } = eventText(event, labelOf, cancelled);
  const time = clock.format(new Date(event.at));
  return { event, time, text, userText, cancelled };
}

/** The step key of each event. */
function stepKeys(events: readonly RunEvent[], steps: readonly Step[]): (string | undefined)[] {
  const { stepsOf } = stepsByNode(steps);
  return events.map((event) => {
    const { frame } = event;
    // For a tool call.
    if ('step_key' in frame && frame.step_key !== undefined) return frame.step_key;
    return stepOfEvent(event, stepsOf)?.step_key;
  });
}

function LineRow({ line: { event, time, text, userText, cancelled } }: { line: Line }) {
  const failed =
    event.frame.type === 'step_failed' || (event.frame.type === 'run_failed' && !cancelled);
  return (
    <>
      <Text span size="xs" c="dimmed" className="numbers" title={event.at}>
        {time}
      </Text>
      <Text span size="sm" fw={600} inherit={!failed} {...(failed && { c: 'danger' })}>
        {text}
      </Text>
      {userText !== undefined && (
        <span className="cut">
          <UserText>{userText}</UserText>
        </span>
      )}
    </>
  );
}
