import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Run, Step } from '../../../../../client/index.ts';
import { kindNames } from '../../../graph/kinds.ts';
import { UserText } from '../../../parts/text/user-text.tsx';
import { TextLink } from '../../../parts/links.tsx';
import { JsonView } from '../../../parts/code/json-view.tsx';
import { countText, dollarsText } from '../../../parts/text/numbers.ts';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { durationText } from '../../../parts/text/duration.ts';
import { When } from '../../../parts/text/time.tsx';
import { stepOf } from '../../approvals/chosen.ts';
import type { LiveAnswers } from '../../../queries/live-answers.ts';
import { Conversation } from '../conversation/conversation.tsx';
import { iterationText, stepName } from '../node-states.ts';
import { Part } from '../part.tsx';
import { isNodeStep, listedName } from './agent-steps.ts';
import { Decided } from './decided.tsx';
import { shownState } from './step-state.ts';
import type { Selection } from '../use-selection.ts';

/** All details of one step. */
export function StepDetail({
  run,
  step,
  answers,
  select,
}: {
  run: Run;
  step: Step;
  answers: LiveAnswers;
  select: Selection['select'];
}) {
  const hasTurns = run.steps.some(({ parent_step_key }) => parent_step_key === step.step_key);
  const gate = run.pending_gates.find(({ step_key }) => step_key === step.step_key);
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">
        <UserText>{listedName(step)}</UserText>
      </Title>
      <AgentLink run={run} step={step} select={select} />
      <Group gap="xs">
        <StateBadge state={shownState(step)} />
        <Text size="sm" c="dimmed">
          {[kindNames[step.kind], iterationText(step)].filter(Boolean).join(' · ')}
        </Text>
      </Group>
      <Iterations run={run} step={step} select={select} />
      {gate !== undefined && (
        <TextLink
          to="/approvals/$runId/$nodeId"
          params={{ runId: run.id, nodeId: gate.node_id }}
          search={{ step: stepOf(gate) }}
          size="sm"
        >
          Decide this gate
        </TextLink>
      )}
      <ChildLink step={step} />
      <Facts run={run} step={step} />
      <Attempts step={step} />
      <StepError step={step} />
      {step.decision !== undefined && (
        <Part title="Decision">
          <Decided decision={step.decision} decisions={step.decisions} />
        </Part>
      )}
      <Verdicts policy={step.policy} />
      {hasTurns && <Conversation run={run} agent={step} answers={answers} select={select} />}
      <Part title="Input">
        <JsonView value={step.input} what="the input" />
      </Part>
      <Part title="Output">
        <JsonView value={step.output} what="the output" />
      </Part>
    </Stack>
  );
}

/** From a step to the run that it started. */
function ChildLink({ step: { child_run_id: runId, paused_child } }: { step: Step }) {
  if (runId === undefined) return null;
  return (
    <Text size="sm">
      <TextLink to="/runs/$runId" params={{ runId }}>
        Open child run
      </TextLink>
      {paused_child === true && ', which is paused and needs a decision'}
    </Text>
  );
}

/** From a turn or a call to the conversation that it belongs to. */
function AgentLink({ run, step, select }: { run: Run; step: Step; select: Selection['select'] }) {
  const agent = run.steps.find(({ step_key }) => step_key === step.parent_step_key);
  if (agent === undefined) return null;
  return (
    <Text size="sm">
      Part of the conversation of{' '}
      <Anchor component="button" inherit onClick={() => select(agent.step_key)}>
        <UserText>{stepName(agent)}</UserText>
      </Anchor>
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
    <Group gap="xs">
      <Button
        size="compact-xs"
        variant="default"
        disabled={before === undefined}
        onClick={() => select(before?.step_key)}
      >
        Previous iteration
      </Button>
      <Text size="xs" c="dimmed">
        {countText(place + 1)} of {countText(steps.length)}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        disabled={after === undefined}
        onClick={() => select(after?.step_key)}
      >
        Next iteration
      </Button>
    </Group>
  );
}

function Facts({ run, step }: { run: Run; step: Step }) {
  const checkpoint = run.checkpoints.find(({ step_key }) => step_key === step.step_key);
  const facts: [string, ReactNode][] = [
    ['Key', <UserText>{step.step_key}</UserText>],
    ['Started', <When at={step.started_at} />],
  ];
  if (step.duration_ms !== null) facts.push(['Duration', durationText(step.duration_ms)]);
  if (step.queued_ms != null) facts.push(['Queued', durationText(step.queued_ms)]);
  if (step.retried_ms !== null && step.retried_ms > 0) {
    facts.push(['Failed attempts', durationText(step.retried_ms)]);
  }
  if (step.attempt > 1) facts.push(['Attempts', countText(step.attempt)]);
  if (step.model !== undefined) facts.push(['Model', <UserText>{step.model}</UserText>]);
  if (step.usage !== undefined) {
    const { input_tokens: given, output_tokens: written } = step.usage;
    facts.push(['Tokens', `${countText(given)} in, ${countText(written)} out`]);
  }
  facts.push([
    'Cost',
    step.unpriced === true ? 'Unknown: this model has no price' : dollarsText(step.cost_usd),
  ]);
  if (checkpoint?.event_id != null) {
    facts.push(['Checkpoint', `History event ${checkpoint.event_id}`]);
  }
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** All attempts with their errors, including those before a resume. A single attempt adds nothing to the step. */
function Attempts({ step: { attempts } }: { step: Step }) {
  if (attempts.length < 2) return null;
  return (
    <Part title="Attempts">
      <Stack component="ol" gap={4} m={0} pl="md" aria-label="Attempts">
        {attempts.map((attempt) => (
          <Text key={attempt.attempt} component="li" size="sm">
            {attempt.outcome ?? 'running'}
            {attempt.duration_ms !== null && ` after ${durationText(attempt.duration_ms)}`}
            {attempt.cost_usd > 0 && `, ${dollarsText(attempt.cost_usd)}`}, started{' '}
            <When at={attempt.started_at} />
            {attempt.error !== null && (
              <>
                {': '}
                <UserText>{attempt.error}</UserText>
              </>
            )}
          </Text>
        ))}
      </Stack>
    </Part>
  );
}

function Verdicts({ policy }: Pick<Step, 'policy'>) {
  if (policy.length === 0) return null;
  return (
    <Part title="Policy verdicts">
      {policy.map((verdict, index) => (
        <Stack key={index} gap={4}>
          <Text size="sm">
            <b>{verdict.decision}</b> by {verdict.policy}: <UserText>{verdict.reason}</UserText>
          </Text>
          <JsonView value={verdict.evidence} what="the evidence" />
        </Stack>
      ))}
    </Part>
  );
}

function StepError({ step: { error, caught } }: { step: Step }) {
  if (error === null) return null;
  return (
    <Part title="Error">
      <JsonView value={error} what="the error" />
      {caught === true && (
        <Text size="sm" c="dimmed">
          The run took the error path of this node.
        </Text>
      )}
    </Part>
  );
}
