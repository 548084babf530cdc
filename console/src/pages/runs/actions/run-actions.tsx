import { ActionIcon, Button, Menu, Modal, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Run } from '#client/index.ts';
import {
  compareForm,
  override,
  rehearse,
  runActions as text,
} from '#console/src/messages/en/runs/actions.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowQuery } from '#console/src/queries/workflows.ts';
import { RunDialog } from '#console/src/pages/workflows/run-dialog.tsx';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { CompareForm } from './compare-form.tsx';
import { OverrideForm } from './override.tsx';
import { RehearseForm } from './rehearse.tsx';
import { type DialogName, useActions } from './use-actions.ts';

/** The action that a run most likely needs next as a button, and all others in a menu. */
export function RunActions({ run, selection }: { run: Run; selection: Selection }) {
  const [dialog, setDialog] = useState<DialogName>();
  const menu = useRef<HTMLButtonElement>(null);
  const { primary, others } = useActions(run, { selection, open: setDialog });
  const close = (): void => setDialog(undefined);
  return (
    <>
      {primary !== undefined && (
        <Button
          variant={primary.urgent === true ? 'filled' : 'default'}
          leftSection={<primary.icon size={16} aria-hidden />}
          loading={primary.pending}
          onClick={primary.act}
        >
          {primary.label}
        </Button>
      )}
      <Menu position="bottom-end" withinPortal={false}>
        <Menu.Target>
          <ActionIcon ref={menu} variant="default" size={36} aria-label={text.more}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(({ label, icon: ActionSign, act, href }) => (
            <Menu.Item
              key={label}
              leftSection={<ActionSign size={16} aria-hidden />}
              {...(href === undefined
                ? { onClick: act }
                : { component: 'a', href, target: '_blank', rel: 'noreferrer' })}
            >
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Dialogs run={run} opened={dialog} close={close} closed={() => menu.current?.focus()} />
    </>
  );
}

function Dialogs({
  run,
  opened,
  close,
  closed,
}: {
  run: Run;
  opened: DialogName | undefined;
  close: () => void;
  closed: () => void;
}) {
  const again = opened === 'again';
  const workflow = useQuery({ ...workflowQuery(run.workflow_id), enabled: again }).data;
  const look = { onClose: close, onExitTransitionEnd: closed };
  return (
    <>
      <Modal opened={opened === 'override'} title={override.title} {...look}>
        <OverrideForm run={run} onDone={close} />
      </Modal>
      <Modal opened={opened === 'compare'} title={compareForm.title} {...look}>
        <CompareForm run={run} onClose={close} />
      </Modal>
      <Modal opened={opened === 'rehearse'} title={rehearse.title} size="lg" {...look}>
        <RehearseForm run={run} onClose={close} />
      </Modal>
      {workflow !== undefined && (
        <RunDialog
          workflow={workflow}
          input={run.input}
          again={run.id}
          opened={again}
          onClose={close}
        />
      )}
    </>
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
