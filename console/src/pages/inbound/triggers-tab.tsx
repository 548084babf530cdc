import { Stack } from '@mantine/core';
import type { Workflow } from '#client/index.ts';
import { SchedulePanel } from '#console/src/pages/schedules/schedule-panel.tsx';
import { EventLog } from './events/event-log.tsx';
import { WebhookPanel } from './webhook-panel.tsx';

/** The automatic triggers of a workflow: its webhook with the events that it received, and its schedules. */
export function TriggersTab({ workflow }: { workflow: Workflow }) {
  return (
    <Stack gap="xl">
      <WebhookPanel workflow={workflow} />
      <EventLog workflow={workflow} />
      <SchedulePanel workflowId={workflow.id} />
    </Stack>
  );
}
