import { Button, Group, Stack, Text, Title } from '@mantine/core';
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
import { iterationText } from '../node-states.ts';
import { Part } from '../part.tsx';
import { shownState } from './step-state.ts';
import type { Selection } from '../use-selection.ts';

/** All details of one step. */
export function StepDetail({
  run,
  step,
  select,
}: {
  run: Run;
  step: Step;
  select: Selection['select'];
}) {
  const gate = run.pending_gates.find(({ step_key }) => step_key === step.step_key);
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">
        <UserText>{step.label}</UserText>
      </Title>
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
      <Facts run={run} step={step} />
      <Attempts step={step} />
      {step.error !== null && (
        <Part title="Error">
          <JsonView value={step.error} what="the error" />
        </Part>
      )}
      {step.decision !== undefined && <Decision decision={step.decision} />}
      <Verdicts policy={step.policy} />
      <Part title="Input">
        <JsonView value={step.input} what="the input" />
      </Part>
      <Part title="Output">
        <JsonView value={step.output} what="the output" />
      </Part>
    </Stack>
  );
}

/** Links to the step of the same node in the previous and next iteration. */
function Iterations({ run, step, select }: { run: Run; step: Step; select: Selection['select'] }) {
  if (step.iteration.length === 0) return null;
  const steps = run.steps.filter(({ node_id }) => node_id === step.node_id);
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

function Decision({ decision }: { decision: NonNullable<Step['decision']> }) {
  const { approved, by, at, reason } = decision;
  return (
    <Part title="Decision">
      <Text size="sm">
        {approved ? 'Approved' : 'Rejected'} by{' '}
        {by === null ? 'an API key' : <UserText>{by}</UserText>}, <When at={at} />
      </Text>
      {reason !== null && (
        <Text size="sm">
          Reason: <UserText>{reason}</UserText>
        </Text>
      )}
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
