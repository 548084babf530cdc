import { ActionIcon, Code, Menu, Stack, Switch, Table, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schedule } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { TextLink } from '../../../parts/links.tsx';
import { When } from '../../../parts/text/time.tsx';
import { useMay } from '../../../queries/identity.ts';
import { runsKey } from '../../../queries/runs.ts';
import { schedulesKey } from '../../../queries/schedules.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';

const NO_SEARCH = { step: undefined, tab: undefined };

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
      <Table.ScrollContainer minWidth={860} tabIndex={0} aria-label="Schedules, scrollable">
        <Table aria-label="Schedules" verticalSpacing="sm">
          <Table.Thead style={{ whiteSpace: 'nowrap' }}>
            <Table.Tr>
              <Table.Th>Schedule</Table.Th>
              {workflowNames !== undefined && <Table.Th>Workflow</Table.Th>}
              <Table.Th>Runs at</Table.Th>
              <Table.Th>Next run</Table.Th>
              <Table.Th>Last run</Table.Th>
              <Table.Th>Enabled</Table.Th>
              <Table.Th>Actions</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {schedules.map((schedule) => (
              <ScheduleRow
                key={schedule.id}
                schedule={schedule}
                workflowNames={workflowNames}
                setEdited={setEdited}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function ScheduleRow({
  schedule,
  workflowNames,
  setEdited,
}: {
  schedule: Schedule;
  workflowNames?: ReadonlyMap<string, string>;
  setEdited: (schedule: Schedule) => void;
}) {
  return (
    <Table.Tr>
      <Table.Td>
        <UserText>{nameOf(schedule)}</UserText>
      </Table.Td>
      {workflowNames !== undefined && (
        <Table.Td>
          <WorkflowLink schedule={schedule} names={workflowNames} />
        </Table.Td>
      )}
      <Table.Td>
        <Code>{schedule.cron}</Code>
        <Text size="xs" c="dimmed">
          {schedule.timezone}
          {schedule.overlap === 'allow' && ', allows overlapping runs'}
        </Text>
      </Table.Td>
      <Table.Td>
        {schedule.next_run_at === null ? '–' : <When at={schedule.next_run_at} />}
      </Table.Td>
      <Table.Td>
        <LastTick schedule={schedule} />
      </Table.Td>
      <Table.Td>
        <EnabledSwitch schedule={schedule} />
      </Table.Td>
      <Table.Td>
        <ScheduleMenu schedule={schedule} onEdit={() => setEdited(schedule)} />
      </Table.Td>
    </Table.Tr>
  );
}

const nameOf = ({ name, id }: Schedule): string => name ?? id;

function WorkflowLink({
  schedule: { workflow_id: workflowId },
  names,
}: {
  schedule: Schedule;
  names: ReadonlyMap<string, string>;
}) {
  return (
    <TextLink
      size="sm"
      to="/workflows/$workflowId"
      params={{ workflowId }}
      search={{ tab: 'triggers' }}
    >
      <UserText>{names.get(workflowId) ?? workflowId}</UserText>
    </TextLink>
  );
}

function LastTick({ schedule }: { schedule: Schedule }) {
  const { last_run_at: at, last_run_id: runId, last_skip: skip } = schedule;
  return (
    <Stack gap={2}>
      {at === null ? (
        <Text size="sm">Never</Text>
      ) : (
        <Text size="sm" component="div">
          <When at={at} ago />
          {runId !== null && (
            <>
              {' · '}
              <TextLink
                to="/runs/$runId"
                params={{ runId }}
                search={NO_SEARCH}
                size="sm"
                aria-label={`Last run of ${nameOf(schedule)}`}
              >
                View run
              </TextLink>
            </>
          )}
        </Text>
      )}
      {skip !== null && (at === null || skip.at > at) && (
        <Text size="xs" component="div">
          Skipped <When at={skip.at} ago />: <UserText>{skip.reason}</UserText>
        </Text>
      )}
    </Stack>
  );
}

function EnabledSwitch({ schedule }: { schedule: Schedule }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows');
  const set = useAction((enabled: boolean) => api().updateSchedule(schedule.id, { enabled }), {
    changes: [schedulesKey],
    done: ({ enabled }) => (enabled ? 'Schedule enabled' : 'Schedule disabled'),
  });
  if (!mayEdit) return schedule.enabled ? 'yes' : 'no';
  return (
    <Switch
      aria-label={`${nameOf(schedule)} enabled`}
      checked={set.isPending ? set.variables : schedule.enabled}
      disabled={set.isPending || (!schedule.enabled && !mayRun)}
      onChange={(event) => set.mutate(event.currentTarget.checked)}
    />
  );
}

function ScheduleMenu({ schedule, onEdit }: { schedule: Schedule; onEdit: () => void }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows');
  const navigate = useNavigate();
  const trigger = useAction(() => api().triggerSchedule(schedule.id), {
    changes: [schedulesKey, runsKey],
    onDone: ({ id }) =>
      void navigate({ to: '/runs/$runId', params: { runId: id }, search: NO_SEARCH }),
  });
  const remove = useAction(() => api().deleteSchedule(schedule.id), {
    changes: [schedulesKey],
    done: 'Schedule deleted',
  });
  if (!mayEdit) return '–';
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${nameOf(schedule)}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={!mayRun} onClick={() => trigger.mutate(undefined)}>
          Run now
        </Menu.Item>
        <Menu.Item onClick={onEdit}>Edit</Menu.Item>
        <Menu.Item
          c="red"
          onClick={() =>
            confirm({
              title: 'Delete this schedule?',
              consequence: (
                <>
                  <UserText>{nameOf(schedule)}</UserText> will not start any more runs. Active runs
                  continue.
                </>
              ),
              confirmLabel: 'Delete schedule',
              onConfirm: () => remove.mutate(undefined),
            })
          }
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
