import { ActionIcon, Code, Menu, Stack, Switch, Table, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import type { Schedule } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { scheduleTable as text } from '#console/src/messages/en/workflows/schedules.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { IdEnd } from '#console/src/parts/short-id.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { WorkflowLink, RunLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { cronText } from '#console/src/parts/text/cron-text.ts';
import { ownZone } from '#console/src/parts/text/times.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { schedulesKey } from '#console/src/queries/schedules.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { useOpenRun } from '#console/src/parts/open-run.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

/** Schedules with their last and next runs. `workflowNames` adds a column with the workflow. */
export function ScheduleTable({
  schedules,
  workflowNames,
}: {
  schedules: readonly Schedule[];
  workflowNames?: ReadonlyMap<string, string>;
}) {
  const [edited, setEdited] = useState<Schedule>();
  return (
    <>
      {edited !== undefined && (
        <ScheduleDialog
          key={edited.id}
          opened
          onClose={() => setEdited(undefined)}
          target={{ schedule: edited }}
        />
      )}
      <RowTable
        label={text.label}
        minWidth={860}
        columns={[
          text.schedule,
          ...(workflowNames === undefined ? [] : [words.workflow]),
          text.runsAt,
          text.nextRun(ownZone()),
          words.lastRun,
          text.enabled,
          words.actions,
        ]}
      >
        {schedules.map((schedule) => (
          <Row key={schedule.id}>
            {schedule.name === null ? (
              <IdEnd id={schedule.id} />
            ) : (
              <UserText>{schedule.name}</UserText>
            )}
            {workflowNames !== undefined && (
              <Table.Td>
                <WorkflowLink workflow={schedule.workflow_id} tab="triggers" size="sm">
                  <UserText>
                    {workflowNames.get(schedule.workflow_id) ?? schedule.workflow_id}
                  </UserText>
                </WorkflowLink>
              </Table.Td>
            )}
            <Table.Td>
              <Text size="sm">{cronText(schedule.cron)}</Text>
              <Text size="xs" c="dimmed">
                <Code>{schedule.cron}</Code>{' '}
                {schedule.overlap === 'allow'
                  ? text.overlapping(schedule.timezone)
                  : schedule.timezone}
              </Text>
            </Table.Td>
            {schedule.next_run_at === null ? '–' : <When at={schedule.next_run_at} />}
            <LastTick schedule={schedule} />
            <EnabledSwitch schedule={schedule} />
            <ScheduleMenu schedule={schedule} onEdit={() => setEdited(schedule)} />
          </Row>
        ))}
      </RowTable>
    </>
  );
}

const nameOf = ({ name, id }: Schedule): string => name ?? id;

function LastTick({ schedule }: { schedule: Schedule }) {
  const { last_run_at: at, last_run_id: runId, last_skip: skip } = schedule;
  return (
    <Stack gap={2}>
      {at === null ? (
        <Text size="sm">{text.never}</Text>
      ) : (
        <Text size="sm" component="div">
          <When at={at} ago />
          {runId !== null && (
            <>
              {' · '}
              <RunLink
                run={runId}
                size="sm"
                underline="always"
                aria-label={text.lastRunOf(nameOf(schedule))}
              >
                {text.viewRun}
              </RunLink>
            </>
          )}
        </Text>
      )}
      {schedule.sync_error !== null && (
        <Text size="xs" component="div" c="danger">
          <Message text={text.refused} values={{ reason: schedule.sync_error }} />
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

function EnabledSwitch({ schedule }: { schedule: Schedule }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows');
  const set = useAction(
    (enabled: boolean) =>
      api().updateSchedule(schedule.id, { enabled }, { ifMatch: schedule.etag }),
    {
      changes: [schedulesKey],
      done: ({ enabled }) => (enabled ? text.nowEnabled : text.nowDisabled),
    },
  );
  if (!mayEdit) return schedule.enabled ? text.yes : text.no;
  return (
    <Switch
      aria-label={text.isEnabled(nameOf(schedule))}
      checked={set.isPending ? set.variables : schedule.enabled}
      disabled={set.isPending || (!schedule.enabled && !mayRun)}
      onChange={(event) => set.mutate(event.currentTarget.checked)}
    />
  );
}

function ScheduleMenu({ schedule, onEdit }: { schedule: Schedule; onEdit: () => void }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows');
  const openRun = useOpenRun();
  const trigger = useAction(() => api().triggerSchedule(schedule.id), {
    changes: [schedulesKey, runsKey],
    onDone: ({ id }) => openRun(id),
  });
  const remove = useAction(
    ({ id, etag }: Schedule) => api().deleteSchedule(id, { ifMatch: etag }),
    {
      changes: [schedulesKey],
      done: text.deleted,
    },
  );
  if (!mayEdit) return '–';
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.actionsFor(nameOf(schedule))}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={!mayRun} onClick={() => trigger.mutate(undefined)}>
          {text.runNow}
        </Menu.Item>
        <Menu.Item onClick={onEdit}>{words.edit}</Menu.Item>
        <Menu.Item
          c="danger"
          onClick={() =>
            confirm({
              ...text.confirmDelete,
              values: { name: nameOf(schedule) },
              onConfirm: () => remove.mutate(schedule),
            })
          }
        >
          {words.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
