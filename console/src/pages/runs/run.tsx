import './runs.css';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { ApiError, type Run, type Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import type { Liveness } from '#console/src/queries/follow.ts';
import { useRunStream } from '#console/src/queries/run-stream.ts';
import { LiveAnswersContext } from '#console/src/queries/live-answers.ts';
import { runStepQuery } from '#console/src/queries/runs.ts';
import { QueuedNote } from '#console/src/pages/limits/queued-note.tsx';
import { RunActions } from './actions/run-actions.tsx';
import { MissingRun } from './missing-run.tsx';
import { Panes } from './panes.tsx';
import { OpenWaits } from './open-waits.tsx';
import { RunError } from './run-error.tsx';
import { failingStep } from './run-facts.ts';
import { RunLine } from './run-header.tsx';
import { RunRecord } from './run-record.tsx';
import { RunViews } from './run-views.tsx';
import { SelectedStep, WaitingGates, WholeRun } from './run-side.tsx';
import { withWaitingAgents } from './steps/agent-steps.ts';
import { useItems, useWithFailures } from './use-items.ts';
import { useRunId, useSelection } from './use-selection.ts';

/** Minimum width to show the step beside the run. Paper does not count: after printing, the page is as it was. */
const WIDE = 'print, (min-width: 75em)';

/** One run, updated live. */
export function RunPage() {
  const runId = useRunId();
  const { query, liveness, answers } = useRunStream(runId);
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
      {(run) => (
        <LiveAnswersContext value={answers}>
          <RunView run={run} readAt={query.dataUpdatedAt} liveness={liveness} />
        </LiveAnswersContext>
      )}
    </Loaded>
  );
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

interface RunViewProps {
  run: Run;
  readAt: number;
  liveness: Liveness;
}

function RunView({ run: read, readAt, liveness }: RunViewProps) {
  const run = useWithFailures(read);
  const shown = useMemo(() => withWaitingAgents(run), [run]);
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
  return (
    <Page
      title={run.workflow_name}
      about={<RunLine run={run} liveness={liveness} readAt={readAt} />}
      actions={<RunActions run={run} selection={selection} />}
      wide
      fill={wide}
    >
      <RunRecord run={run} />
      <QueuedNote run={run} />
      <OpenWaits run={run} />
      <RunError run={run} items={items} failing={failing} chosen={key} select={select} />
      <Panes
        wide={wide}
        views={<RunViews run={shown} {...{ items, chosen, selection, wide }} />}
        gates={<WaitingGates run={run} />}
        // After the tree, which it is below in a narrow window, so that it does not move.
        whole={items !== undefined && <WholeRun run={run} />}
        step={
          key !== undefined && <SelectedStep {...{ run, items, select }} step={chosen} id={key} />
        }
        close={() => select(undefined)}
      />
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
