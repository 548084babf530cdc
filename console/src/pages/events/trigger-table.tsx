import { ActionIcon, Code, Menu, Stack, Switch, Table, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { EventTrigger } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { triggerPanel as text } from '#console/src/messages/en/workflows/events.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { RunLink, TextLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { triggersKey } from '#console/src/queries/events.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { TriggerDialog } from './trigger-dialog.tsx';

/** Event triggers with their last runs. */
export function TriggerTable({
  triggers,
  workflowId,
}: {
  triggers: readonly EventTrigger[];
  workflowId: string;
}) {
  const [edited, setEdited] = useState<EventTrigger>();
  return (
    <>
      {edited !== undefined && (
        <TriggerDialog
          key={edited.id}
          opened
          onClose={() => setEdited(undefined)}
          workflowId={workflowId}
          trigger={edited}
        />
      )}
      <RowTable
        label={text.label}
        columns={[
          text.event,
          text.match,
          words.lastRun,
          text.enabled,
          { label: words.actions, hidden: true },
        ]}
        minWidth={680}
      >
        {triggers.map((trigger) => (
          <Row key={trigger.id}>
            <TextLink to="/events" search={{ name: trigger.event }} size="sm">
              {trigger.event}
            </TextLink>
            <Table.Td maw={320}>
              {trigger.match === null ? (
                <Text size="sm">{text.always}</Text>
              ) : (
                <Code style={{ overflowWrap: 'anywhere' }}>{trigger.match}</Code>
              )}
            </Table.Td>
            <LastEvent trigger={trigger} />
            <EnabledSwitch trigger={trigger} />
            <TriggerMenu trigger={trigger} onEdit={() => setEdited(trigger)} />
          </Row>
        ))}
      </RowTable>
    </>
  );
}

function LastEvent({ trigger }: { trigger: EventTrigger }) {
  const { last_run_at: at, last_run_id: runId, last_skip: skip } = trigger;
  return (
    <Stack gap={2}>
      {at === null || runId === null ? (
        <Text size="sm">{text.never}</Text>
      ) : (
        <Text size="sm" component="div">
          <When at={at} ago />
          {' · '}
          <RunLink
            run={runId}
            size="sm"
            underline="always"
            aria-label={text.lastRunOf(trigger.event)}
          >
            {text.viewRun}
          </RunLink>
        </Text>
      )}
      {skip !== null && (at === null || skip.at > at) && (
        <Text size="xs" component="div">
          <Message
            text={text.skipped}
            values={{ when: <When at={skip.at} ago />, reason: skip.reason }}
          />
        </Text>
      )}
    </Stack>
  );
}

function EnabledSwitch({ trigger }: { trigger: EventTrigger }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows');
  const set = useAction(
    (enabled: boolean) =>
      api().updateEventTrigger(trigger.id, { enabled }, { ifMatch: trigger.etag }),
    {
      changes: [triggersKey],
      done: ({ enabled }) => (enabled ? text.nowEnabled : text.nowDisabled),
    },
  );
  if (!mayEdit) return trigger.enabled ? text.yes : text.no;
  return (
    <Switch
      aria-label={text.isEnabled(trigger.event)}
      checked={set.isPending ? set.variables : trigger.enabled}
      disabled={set.isPending || (!trigger.enabled && !mayRun)}
      onChange={(event) => set.mutate(event.currentTarget.checked)}
    />
  );
}

function TriggerMenu({ trigger, onEdit }: { trigger: EventTrigger; onEdit: () => void }) {
  const mayEdit = useMay('create_edit_workflows');
  const navigate = useNavigate();
  const remove = useAction(
    ({ id, etag }: EventTrigger) => api().deleteEventTrigger(id, { ifMatch: etag }),
    { changes: [triggersKey], done: text.deleted },
  );
  if (!mayEdit) return '–';
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.actionsFor(trigger.event)}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onEdit}>{words.edit}</Menu.Item>
        <Menu.Item
          onClick={() => void navigate({ to: '/events', search: { name: trigger.event } })}
        >
          {text.showEvents}
        </Menu.Item>
        <Menu.Item
          c="danger"
          onClick={() =>
            confirm({
              ...text.confirmDelete,
              values: { event: trigger.event },
              onConfirm: () => remove.mutate(trigger),
            })
          }
        >
          {words.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
