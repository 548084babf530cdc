import './runs.css';
import { Alert, Box, Button, CloseButton, Drawer, Group, Stack, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo } from 'react';
import { ApiError, type Run, type Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { run as text } from '#console/src/messages/en/runs/run.ts';
import { Message } from '#console/src/messages/message.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import type { Liveness } from '#console/src/queries/follow.ts';
import { useRunStream } from '#console/src/queries/run-stream.ts';
import type { LiveAnswers } from '#console/src/queries/live-answers.ts';
import { EventLog } from './event-log.tsx';
import { RunMap } from './run-map.tsx';
import { ActionHints, RunActions } from './actions/run-actions.tsx';
import { MissingRun } from './missing-run.tsx';
import { type Items, placeInItems } from './items.ts';
import { failingStep, hasEnded } from './run-facts.ts';
import { RunChecks, RunCheckpoints, RunData } from './run-results.tsx';
import { RunFigures, RunLine } from './run-summary.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { runStepQuery } from '#console/src/queries/runs.ts';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { NodeCounts } from './steps/node-counts.tsx';
import { Inspector } from './inspector/inspector.tsx';
import { Trace } from './trace/trace.tsx';
import { useItems, useWithFailures } from './use-items.ts';
import { type Selection, useRunId, useSelection, useTab } from './use-selection.ts';
import { WaitingGates } from './waiting-gates.tsx';

/** Minimum width to show the step beside the run. */
const WIDE = '(min-width: 75em)';

/** One run, updated live. */
export function RunPage() {
  const runId = useRunId();
  const { query, ...stream } = useRunStream(runId);
  if (isMissing(query.error)) return <MissingRun runId={runId} />;
  return (
    <Loaded
      query={query}
      loading={
        <Page title={words.run}>
          <LoadingPage />
        </Page>
      }
    >
      {(run) => <RunView run={run} readAt={query.dataUpdatedAt} {...stream} />}
    </Loaded>
  );
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

interface RunViewProps {
  run: Run;
  readAt: number;
  liveness: Liveness;
  answers: LiveAnswers;
}

function RunView({ run: read, readAt, liveness, answers }: RunViewProps) {
  const run = useWithFailures(read);
  const items = useItems(run);
  const selection = useSelection();
  const { step: key, select } = selection;
  const chosen = useChosenStep(run, key);
  const wide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const failing = useMemo(() => (run.status === 'failed' ? failingStep(run) : undefined), [run]);
  useEffect(() => {
    if (wide && key === undefined && failing !== undefined) select(failing);
    // Only when the run is opened, so that a selection that was closed stays closed.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [run.id]);
  const detail = key !== undefined && (
    <Selected run={run} items={items} step={chosen} id={key} answers={answers} select={select} />
  );
  const close = (
    <CloseButton
      aria-label={text.closeStep}
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
      <RunError run={run} items={items} failing={failing} chosen={key} select={select} />
      <WaitingGates run={run} chosen={key} />
      <div
        className="run-columns"
        data-two={wide && detail !== false ? layoutOf(run, chosen) : undefined}
      >
        <Stack gap="lg" miw={0}>
          <RunMap run={run} items={items} chosen={chosen} selection={selection} />
          {run.step_counts !== null && (
            <NodeCounts run={run} items={items} chosen={key} select={select} />
          )}
          <Trace
            run={run}
            items={items}
            chosen={key}
            select={select}
            follows={wide && detail !== false}
          />
          <RunTabs run={run} selection={selection} />
        </Stack>
        {wide && detail !== false && (
          <Box component="aside" aria-label={text.selectedStep} className="run-aside" tabIndex={0}>
            {close}
            {detail}
          </Box>
        )}
      </div>
      <StepDrawer wide={wide} detail={detail} select={select} close={close} />
    </Page>
  );
}

/** The selected step. In a run with many steps, it may not be in the record. */
function useChosenStep(run: Run, key: string | undefined): Step | undefined {
  const { steps } = run;
  const here = useMemo(
    () => (key === undefined ? undefined : steps.find(({ step_key }) => step_key === key)),
    [steps, key],
  );
  const elsewhere = key !== undefined && here === undefined && run.steps_next_cursor !== null;
  const read = useQuery({ ...runStepQuery(run.id, key ?? ''), enabled: elsewhere });
  return here ?? (elsewhere ? (read.data ?? undefined) : undefined);
}

/** A conversation gets half of the page; other steps get a column next to the run. */
const layoutOf = ({ steps }: Run, chosen: Step | undefined): 'detail' | 'conversation' =>
  chosen !== undefined && steps.some(({ parent_step_key: agent }) => agent === chosen.step_key)
    ? 'conversation'
    : 'detail';

/** Runs that a person or a budget stopped have not failed by themselves. */
const stops: Partial<Record<string, { colour: string; title: string }>> = {
  cancelled: { colour: 'gray', title: text.cancelled },
  budget: { colour: 'caution', title: text.overBudget },
};

function RunError({
  run,
  items,
  failing,
  chosen,
  select,
}: {
  run: Run;
  items: Items | undefined;
  /** The key of the step where the run failed. */
  failing: string | undefined;
  chosen: string | undefined;
  select: Selection['select'];
}) {
  const mayEdit = useMay('create_edit_workflows');
  if (run.error === null) return null;
  const step = run.steps.find(({ step_key }) => step_key === failing);
  const place = step && items && placeInItems(step, items);
  const { colour, title } = stops[run.failure?.kind ?? ''] ?? {
    colour: 'danger',
    title: text.failed,
  };
  return (
    <Alert
      color={colour}
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={place === undefined ? title : text.failedAt(title, step?.label ?? '', place)}
    >
      <Group justify="space-between" align="flex-end" gap="xs">
        <Box flex="1 1 16rem" miw={0}>
          <Text size="sm" className="pre">
            <UserText>{run.error}</UserText>
          </Text>
          <ActionHints run={run} />
        </Box>
        {failing !== undefined && (
          <Group gap="xs">
            {chosen !== failing && (
              <Button size="compact-sm" variant="default" onClick={() => select(failing)}>
                {text.showFailed}
              </Button>
            )}
            {mayEdit && (
              <ButtonLink
                to="/workflows/$workflowId/edit"
                params={{ workflowId: run.workflow_id }}
                search={{ node: step?.node_id, run: run.id, step: failing }}
                size="compact-sm"
                variant="default"
              >
                {text.fix}
              </ButtonLink>
            )}
          </Group>
        )}
      </Group>
    </Alert>
  );
}

/** The selected step, in a window too narrow to show it next to the run. */
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
        <Drawer.Content aria-label={text.selectedStep}>
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
  items,
  step,
  id,
  answers,
  select,
}: {
  run: Run;
  items: Items | undefined;
  step: Step | undefined;
  id: string;
  answers: LiveAnswers;
  select: Selection['select'];
}) {
  if (step !== undefined) {
    return <Inspector run={run} items={items} step={step} answers={answers} select={select} />;
  }
  return (
    <Text size="sm">
      <Message text={hasEnded(run) ? text.notReached : text.notReachedYet} values={{ step: id }} />
    </Text>
  );
}

function RunTabs({ run, selection: { step, select } }: { run: Run; selection: Selection }) {
  const { tab, show } = useTab();
  return (
    <Section title={text.details}>
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="data">{text.tabs.data}</Tabs.Tab>
          <Tabs.Tab value="log">{text.tabs.log}</Tabs.Tab>
          <Tabs.Tab value="checks">{text.tabs.checks}</Tabs.Tab>
          <Tabs.Tab value="checkpoints">{text.tabs.checkpoints}</Tabs.Tab>
        </Tabs.List>
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
