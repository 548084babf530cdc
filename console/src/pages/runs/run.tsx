import './runs.css';
import { Alert, Box, CloseButton, Drawer, Stack, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import type { Run, Step } from '../../../../client/index.ts';
import { UserText } from '../../parts/text/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { LoadingPage } from '../../parts/loading.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { type Liveness, useRunStream } from '../../queries/run-stream.ts';
import type { LiveAnswers } from '../../queries/live-answers.ts';
import { ChildRuns } from './child-runs.tsx';
import { EventLog } from './event-log.tsx';
import { ActionHints, RunActions } from './actions/run-actions.tsx';
import { hasEnded } from './run-facts.ts';
import { RunChecks, RunCheckpoints, RunData } from './run-results.tsx';
import { RunFigures, RunLine } from './run-summary.tsx';
import { StepDetail } from './steps/step-detail.tsx';
import { StepTable } from './steps/step-table.tsx';
import { TimelineChart } from './timeline/timeline-chart.tsx';
import { type Selection, useRunId, useSelection, useTab } from './use-selection.ts';
import { WaitingGates } from './waiting-gates.tsx';

const RunGraph = lazy(async () => ({ default: (await import('./run-graph.tsx')).RunGraph }));

/** Minimum width to show the step beside the run. */
const WIDE = '(min-width: 75em)';

/** One run, updated live. */
export function RunPage() {
  const { query, ...stream } = useRunStream(useRunId());
  return (
    <Loaded
      query={query}
      loading={
        <Page title="Run">
          <LoadingPage />
        </Page>
      }
    >
      {(run) => <RunView run={run} readAt={query.dataUpdatedAt} {...stream} />}
    </Loaded>
  );
}

interface RunViewProps {
  run: Run;
  readAt: number;
  liveness: Liveness;
  answers: LiveAnswers;
}

function RunView({ run, readAt, liveness, answers }: RunViewProps) {
  const selection = useSelection();
  const { step: key, select } = selection;
  const chosen = useChosenStep(run, key);
  const wide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const detail = key !== undefined && (
    <Selected run={run} step={chosen} id={key} answers={answers} select={select} />
  );
  const close = (
    <CloseButton
      aria-label="Close step"
      style={{ float: 'right' }}
      onClick={() => select(undefined)}
    />
  );
  return (
    <Page
      title={run.workflow_name}
      about={<RunLine run={run} liveness={liveness} />}
      actions={<RunActions run={run} />}
      wide
    >
      <RunFigures run={run} readAt={readAt} />
      <RunError run={run} />
      <WaitingGates run={run} chosen={key} />
      <div
        className="run-columns"
        data-two={wide && detail !== false ? layoutOf(run, chosen) : undefined}
      >
        <Stack gap="lg" miw={0}>
          <Section title="Graph">
            <Suspense fallback={<Box h="clamp(260px, 42vh, 480px)" />}>
              <RunGraph run={run} chosen={chosen} selection={selection} />
            </Suspense>
          </Section>
          <Section title="Timeline">
            <TimelineChart run={run} chosen={key} select={select} />
          </Section>
          <ChildRuns run={run} />
          <RunTabs run={run} selection={selection} />
        </Stack>
        {wide && detail !== false && (
          <Box component="aside" aria-label="Selected step" className="run-aside" tabIndex={0}>
            {close}
            {detail}
          </Box>
        )}
      </div>
      <StepDrawer wide={wide} detail={detail} select={select} close={close} />
    </Page>
  );
}

const useChosenStep = ({ steps }: Run, key: string | undefined): Step | undefined =>
  useMemo(
    () => (key === undefined ? undefined : steps.find(({ step_key }) => step_key === key)),
    [steps, key],
  );

/** A conversation gets half of the page, other steps a column beside the run. */
const layoutOf = ({ steps }: Run, chosen: Step | undefined): 'detail' | 'conversation' =>
  chosen !== undefined && steps.some(({ parent_step_key: agent }) => agent === chosen.step_key)
    ? 'conversation'
    : 'detail';

function RunError({ run }: { run: Run }) {
  return (
    run.error !== null && (
      <Alert
        color="red"
        icon={<IconAlertTriangle size={18} aria-hidden />}
        title={run.failure?.kind === 'cancelled' ? 'Cancelled' : 'Failed'}
      >
        <Text size="sm" className="pre">
          <UserText>{run.error}</UserText>
        </Text>
        <ActionHints run={run} />
      </Alert>
    )
  );
}

/** The selected step, in a window too narrow to show it beside the run. */
function StepDrawer({
  wide,
  detail,
  select,
  close,
}: {
  wide: boolean;
  detail: ReactNode;
  select: (step: string | undefined) => void;
  close: ReactNode;
}) {
  return (
    !wide && (
      <Drawer.Root
        opened={detail !== false}
        onClose={() => select(undefined)}
        position="bottom"
        size="75%"
      >
        <Drawer.Overlay />
        <Drawer.Content aria-label="Selected step">
          <Drawer.Body>
            {close}
            {detail}
          </Drawer.Body>
        </Drawer.Content>
      </Drawer.Root>
    )
  );
}

function Selected({
  run,
  step,
  id,
  answers,
  select,
}: {
  run: Run;
  step: Step | undefined;
  id: string;
  answers: LiveAnswers;
  select: Selection['select'];
}) {
  if (step !== undefined) {
    return <StepDetail run={run} step={step} answers={answers} select={select} />;
  }
  return (
    <Text size="sm">
      <UserText>{id}</UserText> {hasEnded(run) ? 'was not reached.' : 'has not been reached yet.'}
    </Text>
  );
}

function RunTabs({ run, selection: { step, select } }: { run: Run; selection: Selection }) {
  const { tab, show } = useTab();
  return (
    <Section title="Details">
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="steps">Steps</Tabs.Tab>
          <Tabs.Tab value="log">Event log</Tabs.Tab>
          <Tabs.Tab value="data">Input and output</Tabs.Tab>
          <Tabs.Tab value="checks">Checks</Tabs.Tab>
          <Tabs.Tab value="checkpoints">Checkpoints</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="steps">
          <StepTable steps={run.steps} chosen={step} select={select} />
        </Tabs.Panel>
        <Tabs.Panel value="log">
          <EventLog run={run} chosen={step} select={select} />
        </Tabs.Panel>
        <Tabs.Panel value="data">
          <RunData run={run} />
        </Tabs.Panel>
        <Tabs.Panel value="checks">
          <RunChecks run={run} />
        </Tabs.Panel>
        <Tabs.Panel value="checkpoints">
          <RunCheckpoints run={run} select={select} />
        </Tabs.Panel>
      </Tabs>
    </Section>
  );
}
