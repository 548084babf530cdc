import { Button, List, Text } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { useMay } from '../../../queries/identity.ts';
import { runsKey } from '../../../queries/runs.ts';
import { workflowQuery } from '../../../queries/workflows.ts';
import { RunDialog } from '../../workflows/run-dialog.tsx';
import { OverrideButton } from './override.tsx';
import { keptText, ResumeEffect } from './resume-texts.tsx';
import { cancelFacts, hasEnded, namesText, resumeFacts } from '../run-facts.ts';

/** The actions available for the run, each with its effect. */
export function RunActions({ run }: { run: Run }) {
  const mayCancelOrResume = useMay('cancel_resume');
  const mayOverride = useMay('manage_workspace');
  const mayRun = useMay('run_workflows');
  return (
    <>
      {run.failure?.kind === 'budget' && mayOverride && <OverrideButton run={run} />}
      {run.resumable && mayCancelOrResume && <ResumeButton run={run} />}
      {!hasEnded(run) && mayCancelOrResume && <CancelButton run={run} />}
      {hasEnded(run) && mayRun && <RunAgainButton run={run} />}
    </>
  );
}

/** Starts another run of the current workflow, prefilled with the input of this run. */
function RunAgainButton({ run }: { run: Run }) {
  const [opened, setOpened] = useState(false);
  const workflow = useQuery({ ...workflowQuery(run.workflow_id), enabled: opened }).data;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={opened && workflow === undefined}
        onClick={() => setOpened(true)}
      >
        Run again
      </Button>
      {workflow !== undefined && (
        <RunDialog
          workflow={workflow}
          input={run.input}
          opened={opened}
          onClose={() => setOpened(false)}
        />
      )}
    </>
  );
}

function ResumeButton({ run }: { run: Run }) {
  const resume = useAction(() => api().resume(run.id), {
    changes: [runsKey],
    done: 'Run resumed',
  });
  const ask = (): void =>
    confirm({
      title: 'Resume this run?',
      consequence: <ResumeEffect facts={resumeFacts(run)} />,
      confirmLabel: 'Resume',
      dangerous: false,
      onConfirm: () => resume.mutate(undefined),
    });
  return (
    <Button
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      loading={resume.isPending}
      onClick={ask}
    >
      Resume
    </Button>
  );
}

function CancelButton({ run }: { run: Run }) {
  const cancel = useAction(() => api().cancel(run.id), {
    changes: [runsKey],
    done: 'Run cancelled',
  });
  const ask = (): void =>
    confirm({
      title: 'Cancel this run?',
      consequence: <CancelEffect run={run} />,
      confirmLabel: 'Cancel run',
      cancelLabel: 'Keep running',
      onConfirm: () => cancel.mutate(undefined),
    });
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerStop size={16} aria-hidden />}
      loading={cancel.isPending}
      onClick={ask}
    >
      Cancel run
    </Button>
  );
}

function CancelEffect({ run }: { run: Run }) {
  const { stopped, kept, gates } = cancelFacts(run);
  return (
    <List size="sm" spacing={4}>
      <List.Item>The run fails now and starts no new steps.</List.Item>
      {stopped.length > 0 && (
        <List.Item>
          <UserText>{namesText(stopped)}</UserText> {stopped.length === 1 ? 'stops' : 'stop'}.
          Changes already made in other systems are not undone.
        </List.Item>
      )}
      {gates > 0 && (
        <List.Item>
          {gates === 1 ? 'The open gate closes' : 'The open gates close'} without a decision.
        </List.Item>
      )}
      <List.Item>{keptText(kept)}</List.Item>
      <List.Item>You can resume the run later.</List.Item>
    </List>
  );
}

/** Explains why an expected action has no button. */
export function ActionHints({ run }: { run: Run }) {
  const mayCancelOrResume = useMay('cancel_resume');
  const mayOverride = useMay('manage_workspace');
  if (!run.resumable) return null;
  if (run.failure?.kind === 'budget' && !mayOverride) {
    return (
      <Text size="sm">
        {mayCancelOrResume ? 'You can resume this run once the budget has room. ' : ''} To override
        the budget, you need the manage_workspace permission.
      </Text>
    );
  }
  if (mayCancelOrResume) return null;
  return <Text size="sm">To resume this run, you need the cancel_resume permission.</Text>;
}
