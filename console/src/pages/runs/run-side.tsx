import { Text } from '@mantine/core';
import type { Run, Step } from '#client/index.ts';
import { run as text } from '#console/src/messages/en/runs/run.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Inspector } from './inspector/inspector.tsx';
import type { Items } from './items.ts';
import { hasEnded } from './run-facts.ts';
import { RunData } from './run-results.tsx';
import { useRunGraph } from './use-run-graph.ts';
import type { Selection } from './use-selection.ts';
import { WaitingGate } from './waiting-gate.tsx';

/** The decisions that a run waits for. */
export const WaitingGates = ({ run }: { run: Run }) =>
  run.pending_gates.map((gate) => <WaitingGate key={gate.step_key} runId={run.id} gate={gate} />);

/** The input, state and output of a run. */
export const WholeRun = ({ run }: { run: Run }) => (
  <Section title={text.data}>
    <RunData run={run} />
  </Section>
);

/** One step with all its details, or why it has none. */
export function SelectedStep({
  run,
  items,
  step,
  id,
  select,
}: {
  run: Run;
  items: Items | undefined;
  step: Step | undefined;
  /** The key of the step, or the id of a node that was not reached. */
  id: string;
  select: Selection['select'];
}) {
  const { drawing } = useRunGraph(run);
  if (step !== undefined) {
    return <Inspector run={run} items={items} step={step} select={select} />;
  }
  const name = drawing?.nodes.find((node) => node.id === id)?.label ?? id;
  return (
    <Text size="sm">
      <Message
        text={hasEnded(run) ? text.notReached : text.notReachedYet}
        values={{ step: name }}
      />
    </Text>
  );
}
