import { Accordion, Box, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Gate as AskedGate, Graph, PendingGate, Run, Step } from '#client/index.ts';
import { gateDetail as texts } from '#console/src/messages/en/approvals.ts';
import { triggers } from '#console/src/messages/en/parts/values.ts';
import { words } from '#console/src/messages/en/words.ts';
import { gatePage } from '#shared/contract/alerts/alerts.ts';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { Message } from '#console/src/messages/message.tsx';
import { DecisionForm } from '#console/src/parts/forms/decision-form.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { useNow } from '#console/src/parts/text/now.ts';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { gateQuery, runQuery } from '#console/src/queries/runs.ts';
import { versionQuery } from '#console/src/queries/workflows.ts';
import { EarlierDecision } from './earlier-decision.tsx';
import { Assignee } from './assignee.tsx';
import type { Chosen } from './chosen.ts';
import { rejectionOf, stepsBefore } from './upstream.ts';
import { Undecidable } from './undecidable.tsx';

const POLL_MS = 5_000;

interface DetailProps extends Omit<Chosen, 'runId'> {
  onDecided: () => void;
  onUndo: () => void;
}

/** A gate: its prompt, the steps before it, the cost so far, and the decision form, or why there is none. */
export function GateDetail({ runId, ...detail }: DetailProps & { runId: string }) {
  const run = useQuery({ ...runQuery(runId), refetchInterval: POLL_MS });
  return <Loaded query={run}>{(data) => <Gate run={data} {...detail} />}</Loaded>;
}

function Gate({ run, nodeId, step: key, onDecided, onUndo }: DetailProps & { run: Run }) {
  const version = useQuery(versionQuery(run.workflow_id, run.workflow_version));
  const gate = run.pending_gates.find(
    (each) => each.node_id === nodeId && (key === undefined || each.step_key === key),
  );
  const step = run.steps.findLast((each) =>
    key === undefined
      ? each.node_id === nodeId && (each.kind === 'human_gate' || each.decision !== undefined)
      : each.step_key === key,
  );
  const stepKey = gate?.step_key ?? step?.step_key;
  const { data: asked } = useQuery({
    ...gateQuery(run.id, stepKey ?? ''),
    enabled: stepKey !== undefined,
    refetchInterval: POLL_MS,
  });
  const label = gate?.label ?? step?.label ?? nodeId;
  const graph = (run.graph as unknown as Graph | undefined) ?? version.data?.graph;
  const before = (iteration: readonly number[] | undefined): Step[] | undefined =>
    graph && stepsBefore(graph, nodeId, run.steps, iteration);
  const context = (
    <>
      <Facts run={run} gate={gate} />
      <Before steps={before(asked?.iteration)} />
      <Payloads run={run} />
    </>
  );
  return (
    <Stack gap="md" component="section" aria-label={texts.label(label)} tabIndex={-1}>
      <Heading
        {...{ run, label }}
        title={asked?.title ?? gate?.title ?? label}
        gate={gate && asked}
      />
      {/* A tool call is shown with its arguments, which its prompt repeats. */}
      {gate?.kind !== 'tool_call' && step?.tool_call === undefined && (
        <Prompt text={gate?.prompt ?? promptOf(step)} />
      )}
      {gate !== undefined ? (
        <>
          {asked !== undefined && (
            <EarlierDecision
              gate={asked}
              values={before(asked.iteration) ?? []}
              earlierValues={before(asked.earlier[0]?.iteration) ?? []}
            />
          )}
          <DecisionForm
            inbox
            runId={run.id}
            gate={gate}
            rejection={graph && rejectionOf(graph, nodeId)}
            onDecided={onDecided}
            onUndo={onUndo}
            below={context}
          />
        </>
      ) : (
        <>
          <Undecidable run={run} step={step} gate={asked} />
          {context}
        </>
      )}
    </Stack>
  );
}

const Heading = ({
  run,
  label,
  title,
  gate,
}: {
  run: Run;
  label: string;
  /** What is decided. */
  title: string;
  /** While it is open. */
  gate: AskedGate | undefined;
}) => (
  <Group justify="space-between" align="flex-start" gap="xs">
    <Box miw={0}>
      <Title order={2} size="h4">
        <UserText>{title}</UserText>
      </Title>
      <Dimmed>
        <UserText>{run.workflow_name}</UserText>
        {label !== title && (
          <>
            {' · '}
            <UserText>{label}</UserText>
          </>
        )}
      </Dimmed>
    </Box>
    <Group gap="sm">
      {gate !== undefined && (
        <>
          <Copy
            text={window.location.origin + gatePage(run.id, gate.node_id, gate.step_key)}
            what={texts.theLink}
          />
          <Assignee gate={gate} />
        </>
      )}
      <StateBadge state={run.status} />
    </Group>
  </Group>
);

function Prompt({ text }: { text: string }) {
  if (text === '') {
    return <Dimmed>{texts.noPrompt}</Dimmed>;
  }
  return (
    <Paper
      withBorder
      p="md"
      mah={360}
      style={{ overflow: 'auto' }}
      tabIndex={0}
      aria-label={texts.prompt}
      role="group"
    >
      <Text style={{ whiteSpace: 'pre-wrap' }} component="div" dir="auto">
        <UserText>{text}</UserText>
      </Text>
    </Paper>
  );
}

/** A decided gate is no longer pending, but its prompt is in the input of its step. */
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
        <Fact name={texts.waitingSince}>
          <Message
            text={texts.since}
            values={{
              at: <When at={gate.since} />,
              duration: durationText(now - Date.parse(gate.since)),
            }}
          />
        </Fact>
      )}
      <Fact name={texts.costSoFar}>
        {run.cost_cap_usd === null
          ? dollarsText(run.cost_usd)
          : texts.costOf(dollarsText(run.cost_usd), dollarsText(run.cost_cap_usd))}
      </Fact>
      <Fact name={texts.runStarted}>
        <Message
          text={texts.startedBy}
          values={{ at: <When at={run.created_at} ago />, trigger: triggers[run.trigger] }}
        />
      </Fact>
      <Fact name={words.run}>
        <UserText>{run.workflow_name}</UserText>{' '}
        <RunLink run={run.id} title={run.id} underline="always">
          {shortId(run.id)}
        </RunLink>
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
        {texts.previous}
      </Title>
      {steps.length === 0 && <Dimmed>{texts.noPrevious}</Dimmed>}
      {steps.map((step) => (
        <Stack gap={4} key={step.step_key}>
          <Group gap="xs" justify="space-between">
            <Text size="sm" fw={600}>
              <UserText>{step.label}</UserText>
            </Text>
            <Dimmed size="xs">
              {step.model !== undefined && <UserText>{step.model} · </UserText>}
              {dollarsText(step.cost_usd)}
            </Dimmed>
          </Group>
          <JsonView value={step.output} what={texts.outputOf(step.label)} />
        </Stack>
      ))}
    </Stack>
  );
}

function Payloads({ run }: { run: Run }) {
  const payloads = [
    { name: words.input, what: texts.runInput, value: run.input },
    { name: texts.state, what: texts.runState, value: run.state },
  ].filter(({ value }) => value !== null);
  return (
    <Accordion multiple variant="contained" order={3} keepMounted={false}>
      {payloads.map(({ name, what, value }) => (
        <Accordion.Item key={name} value={name}>
          <Accordion.Control>{name}</Accordion.Control>
          <Accordion.Panel>
            <JsonView value={value} what={what} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
