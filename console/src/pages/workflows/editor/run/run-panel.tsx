import { Box, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runPanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { RunBadge } from '#console/src/parts/run-badges.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { Cost, wholeCostText } from '#console/src/parts/text/cost.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { useRunStream } from '#console/src/queries/run-stream.ts';
import { hasEnded } from '#console/src/pages/runs/run-facts.ts';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';
import { shownState } from '#console/src/pages/runs/steps/step-state.ts';
import type { DraftRun } from './draft-run.ts';

/** Keeps the run up to date while the editor is open. It is a separate component, so that nothing is rendered again. */
export function RunFollower({ runId }: { runId: string }) {
  useRunStream(runId);
  return null;
}

/** The last run of the editor: its state, and what each node did. */
export function RunPanel({
  draftRun: { run, start, stop },
  runnable,
  onChoose,
}: {
  draftRun: DraftRun;
  /** Whether the content of the editor can run. */
  runnable: boolean;
  onChoose: (nodeId: string) => void;
}) {
  if (run === undefined) {
    return <Dimmed>{text.none}</Dimmed>;
  }
  return (
    <Stack gap="sm">
      <RunState run={run} />
      <RunButtons run={run} start={start} stop={stop} runnable={runnable} />
      {run.error !== null && (
        <Text size="sm" c="var(--mantine-color-error)">
          <UserText>{run.error}</UserText>
        </Text>
      )}
      <StepList run={run} onChoose={onChoose} />
      {run.status === 'success' && (
        <Box>
          <Title order={2} size="h6">
            {words.output}
          </Title>
          <JsonView value={run.output} what={text.theRunOutput} />
        </Box>
      )}
    </Stack>
  );
}

function RunButtons({
  run,
  start,
  stop,
  runnable,
}: {
  run: Run;
  start: DraftRun['start'];
  stop: DraftRun['stop'];
  runnable: boolean;
}) {
  const mayStop = useMay('cancel_resume');
  const mayRun = useMay('run_workflows');
  const ended = hasEnded(run);
  return (
    <Group gap="xs">
      {!ended && mayStop && (
        <ActionButton
          size="compact-sm"
          action={stop}
          variant="light"
          color="danger"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
        >
          {text.stop}
        </ActionButton>
      )}
      {ended && mayRun && (
        <ActionButton
          size="compact-sm"
          action={start}
          input={run.input}
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          disabled={!runnable}
          variant="filled"
        >
          {text.runAgain}
        </ActionButton>
      )}
    </Group>
  );
}

function RunState({ run }: { run: Run }) {
  return (
    <Group gap="xs" role="status" aria-label={words.run}>
      <RunBadge run={run} />
      <Text size="sm">{wholeCostText({ usd: run.cost_usd, unpriced: run.unpriced_steps })}</Text>
      {hasEnded(run) && <Text size="sm">{durationText(run.duration_ms)}</Text>}
      <RunLink run={run.id} size="sm">
        {text.openRun}
      </RunLink>
    </Group>
  );
}

function StepList({ run, onChoose }: { run: Run; onChoose: (nodeId: string) => void }) {
  const steps = run.steps.filter(isNodeStep);
  return (
    <Stack
      gap={2}
      component="ul"
      m={0}
      p={0}
      style={{ listStyle: 'none' }}
      aria-label={words.steps}
    >
      {steps.map((step) => (
        <li key={step.step_key}>
          <UnstyledButton
            w="100%"
            px={6}
            py={4}
            className="editor-step"
            onClick={() => onChoose(step.node_id)}
          >
            <Group gap="xs" wrap="nowrap" justify="space-between">
              <Text size="sm" truncate>
                <UserText>{step.label}</UserText>
              </Text>
              <Group gap="xs" wrap="nowrap">
                {(step.cost_usd > 0 || step.unpriced === true) && (
                  <Dimmed size="xs">
                    <Cost usd={step.cost_usd} unpriced={step.unpriced === true ? 1 : 0} />
                  </Dimmed>
                )}
                <StateBadge state={shownState(step)} size="sm" />
              </Group>
            </Group>
          </UnstyledButton>
        </li>
      ))}
    </Stack>
  );
}
