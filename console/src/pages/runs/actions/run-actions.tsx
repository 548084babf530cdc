import { Button, List, Text } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { runActions as text } from '#console/src/messages/en/runs/actions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { workflowQuery } from '#console/src/queries/workflows.ts';
import { RunDialog } from '#console/src/pages/workflows/run-dialog.tsx';
import { useShortcuts } from '#console/src/parts/shortcuts.ts';
import { CompareButton } from './compare-button.tsx';
import { EvidenceButton } from './evidence-button.tsx';
import { OverrideButton } from './override.tsx';
import { RehearseButton } from './rehearse.tsx';
import { keptText, ResumeEffect } from './resume-texts.tsx';
import {
  cancelFacts,
  hasEnded,
  namesText,
  resumeFacts,
} from '#console/src/pages/runs/run-facts.ts';

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
      {hasEnded(run) && mayRun && <RehearseButton run={run} />}
      {hasEnded(run) && mayRun && <RunAgainButton run={run} />}
      <CompareButton run={run} />
      {hasEnded(run) && <EvidenceButton run={run} />}
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
        {text.runAgain}
      </Button>
      {workflow !== undefined && (
        <RunDialog
          workflow={workflow}
          input={run.input}
          again={run.id}
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
    done: text.resume.done,
  });
  const ask = (): void =>
    confirm({
      title: text.resume.title,
      consequence: <ResumeEffect facts={resumeFacts(run)} />,
      confirm: text.resume.confirm,
      dangerous: false,
      onConfirm: () => resume.mutate(undefined),
    });
  useShortcuts({ r: ask });
  return (
    <Button
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      loading={resume.isPending}
      onClick={ask}
    >
      {text.resume.button}
    </Button>
  );
}

function CancelButton({ run }: { run: Run }) {
  const cancel = useAction(() => api().cancel(run.id), {
    changes: [runsKey],
    done: text.cancel.done,
  });
  return (
    <ActionButton
      action={cancel}
      ask={{
        title: text.cancel.title,
        consequence: <CancelEffect run={run} />,
        confirm: text.cancel.confirm,
        cancelLabel: text.cancel.keep,
      }}
      variant="default"
      leftSection={<IconPlayerStop size={16} aria-hidden />}
    >
      {text.cancel.button}
    </ActionButton>
  );
}

function CancelEffect({ run }: { run: Run }) {
  const { stopped, kept, gates } = cancelFacts(run);
  return (
    <List size="sm" spacing={4}>
      <List.Item>{text.cancel.fails}</List.Item>
      {stopped.length > 0 && (
        <List.Item>
          <Message
            text={text.cancel.stops(stopped.length)}
            values={{ names: namesText(stopped) }}
          />
        </List.Item>
      )}
      {gates > 0 && <List.Item>{text.cancel.gatesClose(gates)}</List.Item>}
      <List.Item>{keptText(kept)}</List.Item>
      <List.Item>{text.cancel.resumable}</List.Item>
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
        {mayCancelOrResume ? text.hints.mayOnlyResume : text.hints.mayNotOverride}
      </Text>
    );
  }
  if (mayCancelOrResume) return null;
  return <Text size="sm">{text.hints.mayNotResume}</Text>;
}
