import { Stack, Tabs, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Run, Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  attempts as attemptText,
  stepTabs as text,
  verdict as verdictText,
} from '#console/src/messages/en/runs/inspector.ts';
import { outcomes, verdicts } from '#console/src/messages/en/parts/values.ts';
import { Message } from '#console/src/messages/message.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';
import { ValueView } from '#console/src/parts/json/value-view.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Conversation } from '#console/src/pages/runs/conversation/conversation.tsx';
import { StepOutput } from '#console/src/pages/runs/conversation/step-output.tsx';
import { Part } from '#console/src/pages/runs/part.tsx';
import { StepAudit } from './step-audit.tsx';
import type { Items } from '#console/src/pages/runs/items.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';

export interface InspectorProps {
  run: Run;
  items: Items | undefined;
  step: Step;
  select: Selection['select'];
}

interface StepTab {
  value: string;
  name: string;
  panel: () => ReactNode;
}

/** The data of a step. The selected tab stays when the user moves to another step that also has it. */
export function StepTabs(props: InspectorProps) {
  const { run, step } = props;
  const tabs = tabsOf(props);
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = tabs.find(({ value }) => value === chosen) ?? tabs[0];
  return (
    <Tabs value={shown?.value ?? null} onChange={setChosen} keepMounted={false}>
      <Tabs.List mb="sm">
        {tabs.map(({ value, name }) => (
          <Tabs.Tab key={value} value={value} px="xs">
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, panel }) => (
        <Tabs.Panel key={`${value} ${run.id} ${step.step_key}`} value={value}>
          {panel()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function tabsOf(props: InspectorProps): StepTab[] {
  const { run, step, select } = props;
  const { attempts, policy } = step;
  const hasTurns = run.steps.some(({ parent_step_key }) => parent_step_key === step.step_key);
  const isAgent = step.kind === 'agent';
  const tabs: (StepTab | false)[] = [
    hasTurns && {
      value: 'conversation',
      name: text.conversation,
      panel: () => <Conversation run={run} agent={step} select={select} />,
    },
    {
      value: 'output',
      name: isAgent ? text.answer : words.output,
      panel: () => <StepOutput step={step} hasTurns={hasTurns} />,
    },
    {
      value: 'input',
      name: isAgent ? text.prompt : words.input,
      panel: () => <StepInput step={step} />,
    },
    step.log !== undefined && {
      value: 'log',
      name: text.log,
      panel: () => <ValueView value={step.log} what={text.theLog} />,
    },
    attempts.length > 1 && {
      value: 'attempts',
      name: text.attempts(countText(attempts.length)),
      panel: () => <Attempts attempts={attempts} />,
    },
    policy.length > 0 && {
      value: 'policies',
      name: text.policies(countText(policy.length)),
      panel: () => <Verdicts policy={policy} />,
    },
    { value: 'audit', name: text.audit, panel: () => <StepAudit run={run} step={step} /> },
  ];
  return tabs.filter((tab) => tab !== false);
}

/** For an agent, prompts are shown as texts; the rest of its input is below. */
function StepInput({ step: { kind, input } }: { step: Step }) {
  if (kind !== 'agent' || !isRecord(input)) return <ValueView value={input} what={text.theInput} />;
  const { system_prompt: system, prompt, ...others } = input;
  return (
    <Stack gap="sm">
      {system !== undefined && (
        <Part title={text.systemPrompt}>
          <ValueView value={system} what={text.theSystemPrompt} prose />
        </Part>
      )}
      {prompt !== undefined && (
        <Part title={text.prompt}>
          <ValueView value={prompt} what={text.thePrompt} prose />
        </Part>
      )}
      {Object.keys(others).length > 0 && (
        <Part title={text.otherInput}>
          <ValueView value={others} what={text.theOtherInput} />
        </Part>
      )}
    </Stack>
  );
}

/** All attempts with their errors, including those before a resume. */
const Attempts = ({ attempts }: Pick<Step, 'attempts'>) => (
  <Stack component="ol" gap={4} m={0} pl="md" aria-label={attemptText.title}>
    {attempts.map((attempt) => (
      <Text key={attempt.attempt} component="li" size="sm">
        {endText(attempt)}
        {attempt.cost_usd > 0 && `, ${dollarsText(attempt.cost_usd)}`}
        {', '}
        <Message text={attemptText.started} values={{ time: <When at={attempt.started_at} /> }} />
        {attempt.error !== null && (
          <>
            {': '}
            <UserText>{attempt.error}</UserText>
          </>
        )}
      </Text>
    ))}
  </Stack>
);

function endText({ outcome, duration_ms: ms }: Step['attempts'][number]): string {
  const end = outcome === null ? attemptText.running : outcomes[outcome];
  return ms === null ? end : attemptText.after(end, durationText(ms));
}

const Verdicts = ({ policy }: Pick<Step, 'policy'>) => (
  <Stack gap="sm">
    {policy.map((verdict, index) => (
      <Stack key={index} gap={4}>
        <Text size="sm">
          <Message
            text={verdictText}
            values={{
              decision: <strong>{verdicts[verdict.decision]}</strong>,
              policy: verdict.policy,
              reason: verdict.reason,
            }}
          />
        </Text>
        <JsonView value={verdict.evidence} what={text.theEvidence} />
      </Stack>
    ))}
  </Stack>
);
