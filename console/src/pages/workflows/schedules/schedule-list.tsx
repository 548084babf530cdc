import { Button, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { useMay } from '../../../queries/identity.ts';
import { schedulesQuery } from '../../../queries/schedules.ts';
import { workflowsQuery } from '../../../queries/workflows.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScheduleTable } from './schedule-table.tsx';

const READ_EVERY_MS = 10_000;

/** All schedules of the workspace. */
export function ScheduleListPage() {
  const query = useQuery({ ...schedulesQuery, refetchInterval: READ_EVERY_MS });
  const workflows = useQuery(workflowsQuery).data;
  const names = useMemo(
    () => new Map((workflows ?? []).map(({ id, name }) => [id, name])),
    [workflows],
  );
  const mayEdit = useMay('create_edit_workflows');
  const [creating, setCreating] = useState(false);
  const mayCreate = mayEdit && workflows !== undefined && workflows.length > 0;
  return (
    <Page
      title="Schedules"
      about="Runs started on a schedule"
      actions={
        mayCreate && (
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setCreating(true)}
          >
            New schedule
          </Button>
        )
      }
    >
      {mayCreate && (
        <ScheduleDialog
          opened={creating}
          onClose={() => setCreating(false)}
          target={{ workflows }}
        />
      )}
      <Loaded query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <Empty title="No schedules yet">
              <Text size="sm">
                A schedule starts runs of a workflow at set times. Create one to run a workflow
                automatically.
              </Text>
            </Empty>
          ) : (
            <ScheduleTable schedules={schedules} workflowNames={names} />
          )
        }
      </Loaded>
    </Page>
  );
}
