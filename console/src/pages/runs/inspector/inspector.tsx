import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import type { Run, Step } from '#client/index.ts';
import { kindNames } from '#console/src/messages/en/graph.ts';
import { words } from '#console/src/messages/en/words.ts';
import { inspector as text } from '#console/src/messages/en/runs/inspector.ts';
import { Message } from '#console/src/messages/message.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { type Items, placeInItems } from '#console/src/pages/runs/items.ts';
import { stepName } from '#console/src/pages/runs/node-states.ts';
import { Part } from '#console/src/pages/runs/part.tsx';
import {
  isNodeStep,
  listedName,
  withWaitingAgents,
} from '#console/src/pages/runs/steps/agent-steps.ts';
import { shownState } from '#console/src/pages/runs/steps/step-state.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { WaitingGate } from '#console/src/pages/runs/waiting-gate.tsx';
import { ChildLink } from './child-link.tsx';
import { Decided } from './decided.tsx';
import { StepActions } from './step-actions.tsx';
import { StepFacts } from './step-facts.tsx';
import { StepTabs, type InspectorProps } from './step-tabs.tsx';

/** All details of the selected step: what it is, what can be done with it, and its data in tabs. */
export function Inspector(props: InspectorProps) {
  const { run, items, step, select } = props;
  const shown = useMemo(() => withWaitingAgents(run).steps, [run]);
  const gate = run.pending_gates.find(({ step_key }) => step_key === step.step_key);
  return (
    <Stack gap="sm">
      <Title order={2} size="h5" pr={32}>
        <UserText>{listedName(step)}</UserText>
      </Title>
      <AgentLink run={run} step={step} select={select} />
      <Group gap="xs">
        <StateBadge
          state={shownState(shown.find(({ step_key: key }) => key === step.step_key) ?? step)}
        />
        <Dimmed>
          {[kindNames[step.kind], items && placeInItems(step, items)].filter(Boolean).join(' · ')}
        </Dimmed>
        <Iterations run={run} step={step} select={select} />
      </Group>
      {gate !== undefined && <WaitingGate runId={run.id} gate={gate} />}
      <ChildLink step={step} />
      <ReusedFrom step={step} />
      <StepError step={step} items={items} />
      <StepActions run={run} step={step} />
      {step.decision !== undefined && (
        <Part title={words.decision}>
          <Decided decision={step.decision} decisions={step.decisions} />
        </Part>
      )}
      <StepFacts run={run} step={step} />
      <StepTabs {...props} />
    </Stack>
  );
}

/** Links a reused step to the run that executed it. */
function ReusedFrom({ step: { reused_from: runId, step_key: step } }: { step: Step }) {
  if (runId === undefined) return null;
  return (
    <Text size="sm">
      <Message
        text={text.reusedFrom}
        values={{
          run: (
            <RunLink run={runId} step={step}>
              {text.anotherRun}
            </RunLink>
          ),
        }}
      />
    </Text>
  );
}

/** Links a turn or call to its conversation. */
function AgentLink({ run, step, select }: { run: Run; step: Step; select: Selection['select'] }) {
  const agent = run.steps.find(({ step_key }) => step_key === step.parent_step_key);
  if (agent === undefined) return null;
  return (
    <Text size="sm">
      <Message
        text={text.partOf}
        values={{
          agent: (
            <Anchor component="button" inherit onClick={() => select(agent.step_key)}>
              <UserText>{stepName(agent)}</UserText>
            </Anchor>
          ),
        }}
      />
    </Text>
  );
}

/** Links to the step of the same node in the previous and next iteration. */
function Iterations({ run, step, select }: { run: Run; step: Step; select: Selection['select'] }) {
  if (step.iteration.length === 0 || !isNodeStep(step)) return null;
  const steps = run.steps.filter((each) => each.node_id === step.node_id && isNodeStep(each));
  const place = steps.findIndex(({ step_key }) => step_key === step.step_key);
  const [before, after] = [steps[place - 1], steps[place + 1]];
  return (
    <Group gap={4}>
      <Button
        size="compact-xs"
        variant="default"
        disabled={before === undefined}
        onClick={() => select(before?.step_key)}
      >
        {text.previousIteration}
      </Button>
      <Dimmed size="xs">{text.place(countText(place + 1), countText(steps.length))}</Dimmed>
      <Button
        size="compact-xs"
        variant="default"
        disabled={after === undefined}
        onClick={() => select(after?.step_key)}
      >
        {text.nextIteration}
      </Button>
    </Group>
  );
}

function StepError({ step, items }: { step: Step; items: Items | undefined }) {
  const { error, caught } = step;
  if (error === null) return null;
  return (
    <Part title={words.error}>
      <JsonView value={error} what={text.theError} />
      {caught === true && items !== undefined && (
        <Dimmed>{items.isFailure(step) ? text.collected : text.errorPath}</Dimmed>
      )}
    </Part>
  );
}
