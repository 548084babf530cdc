import { Accordion, Box, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PendingGate, Run, Step } from '../../../../client/index.ts';
import { DecisionForm } from '../../parts/forms/decision-form.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { JsonView } from '../../parts/code/json-view.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { dollarsText } from '../../parts/text/numbers.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { durationText } from '../../parts/text/duration.ts';
import { useNow } from '../../parts/text/now.ts';
import { When } from '../../parts/text/time.tsx';
import { runQuery } from '../../queries/runs.ts';
import { versionQuery } from '../../queries/workflows.ts';
import type { Chosen } from './chosen.ts';
import { rejectionOf, stepsBefore } from './upstream.ts';
import { Undecidable } from './undecidable.tsx';

const POLL_MS = 5_000;

interface DetailProps extends Omit<Chosen, 'runId'> {
  onDecided: () => void;
}

/** A gate: its prompt, the steps before it, the cost so far, and the decision form or why there is none. */
export function GateDetail({ runId, ...detail }: DetailProps & { runId: string }) {
  const run = useQuery({ ...runQuery(runId), refetchInterval: POLL_MS });
  return <Loaded query={run}>{(data) => <Gate run={data} {...detail} />}</Loaded>;
}

function Gate({ run, nodeId, step: key, onDecided }: DetailProps & { run: Run }) {
  const version = useQuery(versionQuery(run.workflow_id, run.workflow_version));
  const gate = run.pending_gates.find(
    (each) => each.node_id === nodeId && (key === undefined || each.step_key === key),
  );
  const step = run.steps.findLast((each) =>
    key === undefined
      ? each.node_id === nodeId && (each.kind === 'human_gate' || each.decision !== undefined)
      : each.step_key === key,
  );
  const label = gate?.label ?? step?.label ?? nodeId;
  const graph = version.data?.graph;
  return (
    <Stack gap="md" component="section" aria-label={`Gate ${label}`}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Box miw={0}>
          <Title order={2} size="h4">
            <UserText>{label}</UserText>
          </Title>
          <Text size="sm" c="dimmed">
            <UserText>{run.workflow_name}</UserText>
          </Text>
        </Box>
        <StateBadge state={run.status} />
      </Group>
      {/* A tool call is shown with its arguments, which its prompt repeats. */}
      {gate?.kind !== 'tool_call' && step?.tool_call === undefined && (
        <Prompt text={gate?.prompt ?? promptOf(step)} />
      )}
      {gate !== undefined ? (
        <DecisionForm
          shortcuts
          runId={run.id}
          gate={gate}
          rejection={graph && rejectionOf(graph, nodeId)}
          onDecided={onDecided}
        />
      ) : (
        <Undecidable run={run} step={step} />
      )}
      <Facts run={run} gate={gate} />
      <Before steps={graph === undefined ? undefined : stepsBefore(graph, nodeId, run.steps)} />
      <Payloads run={run} />
    </Stack>
  );
}

function Prompt({ text }: { text: string }) {
  if (text === '') {
    return (
      <Text size="sm" c="dimmed">
        This gate has no prompt.
      </Text>
    );
  }
  return (
    <Paper
      withBorder
      p="md"
      mah={360}
      style={{ overflow: 'auto' }}
      tabIndex={0}
      aria-label="Prompt"
      role="group"
    >
      <Text style={{ whiteSpace: 'pre-wrap' }} component="div" dir="auto">
        <UserText>{text}</UserText>
      </Text>
    </Paper>
  );
}

/** A decided gate is no longer pending; its prompt is in the input of its step. */
function promptOf(step: Step | undefined): string {
  const input = step?.input;
  if (typeof input !== 'object' || input === null || !('prompt' in input)) return '';
  return typeof input.prompt === 'string' ? input.prompt : '';
}

function Facts({ run, gate }: { run: Run; gate: PendingGate | undefined }) {
  const now = useNow();
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" component="dl" m={0}>
      {gate !== undefined && (
        <Fact name="Waiting since">
          {' '}
          <When at={gate.since} /> ({durationText(now - Date.parse(gate.since))})
        </Fact>
      )}
      <Fact name="Cost so far">
        {dollarsText(run.cost_usd)}
        {run.cost_cap_usd !== null && ` of ${dollarsText(run.cost_cap_usd)}`}
      </Fact>
      <Fact name="Run started">
        <When at={run.created_at} ago />, {run.trigger}
      </Fact>
      <Fact name="Run">
        <TextLink to="/runs/$runId" params={{ runId: run.id }}>
          {run.id}
        </TextLink>
      </Fact>
    </SimpleGrid>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0}>
        {children}
      </Text>
    </div>
  );
}

function Before({ steps }: { steps: Step[] | undefined }) {
  if (steps === undefined) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        Output of previous steps
      </Title>
      {steps.length === 0 && (
        <Text size="sm" c="dimmed">
          No previous step has produced output.
        </Text>
      )}
      {steps.map((step) => (
        <Stack gap={4} key={step.step_key}>
          <Group gap="xs" justify="space-between">
            <Text size="sm" fw={600}>
              <UserText>{step.label}</UserText>
            </Text>
            <Text size="xs" c="dimmed">
              {step.model !== undefined && <UserText>{step.model} · </UserText>}
              {dollarsText(step.cost_usd)}
            </Text>
          </Group>
          <JsonView value={step.output} what={`Output of ${step.label}`} />
        </Stack>
      ))}
    </Stack>
  );
}

function Payloads({ run }: { run: Run }) {
  const payloads = [
    { name: 'Input', value: run.input },
    { name: 'State', value: run.state },
  ].filter(({ value }) => value !== null);
  return (
    <Accordion multiple variant="contained" order={3} keepMounted={false}>
      {payloads.map(({ name, value }) => (
        <Accordion.Item key={name} value={name}>
          <Accordion.Control>{name}</Accordion.Control>
          <Accordion.Panel>
            <JsonView value={value} what={`the run ${name.toLowerCase()}`} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
