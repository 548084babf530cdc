import { Stack } from '@mantine/core';
import type { Workflow } from '../../../../../client/index.ts';
import { SchedulePanel } from '../schedules/schedule-panel.tsx';
import { WebhookPanel } from './webhook-panel.tsx';

/** The automatic triggers of a workflow: its webhook and its schedules. */
export function TriggersTab({ workflow }: { workflow: Workflow }) {
  return (
    <Stack gap="xl">
      <WebhookPanel workflow={workflow} />
      <SchedulePanel workflowId={workflow.id} />
    </Stack>
  );
}
