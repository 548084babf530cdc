import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { schedulePanel as text } from '#console/src/messages/en/workflows/schedules.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { schedulesQuery } from '#console/src/queries/schedules.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScheduleTable } from './schedule-table.tsx';

const READ_EVERY_MS = 10_000;

/** The schedules of one workflow. */
export function SchedulePanel({ workflowId }: { workflowId: string }) {
  const query = useQuery({ ...schedulesQuery, refetchInterval: READ_EVERY_MS });
  const mayEdit = useMay('create_edit_workflows');
  const [creating, setCreating] = useState(false);
  return (
    <Section
      title={text.title}
      actions={
        mayEdit && (
          <Button
            size="sm"
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setCreating(true)}
          >
            {text.new}
          </Button>
        )
      }
    >
      <ScheduleDialog
        opened={creating}
        onClose={() => setCreating(false)}
        target={{ workflowId }}
      />
      <Loaded query={query}>
        {(schedules) => {
          const own = schedules.filter((each) => each.workflow_id === workflowId);
          return own.length === 0 ? (
            <Empty {...text.empty} missing={!mayEdit && 'create_edit_workflows'}>
              {mayEdit && <Button onClick={() => setCreating(true)}>{text.empty.create}</Button>}
            </Empty>
          ) : (
            <ScheduleTable schedules={own} />
          );
        }}
      </Loaded>
    </Section>
  );
}
