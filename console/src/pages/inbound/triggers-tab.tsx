import { Stack } from '@mantine/core';
import type { Workflow } from '#client/index.ts';
import { TriggerPanel } from '#console/src/pages/events/trigger-panel.tsx';
import { SchedulePanel } from '#console/src/pages/schedules/schedule-panel.tsx';
import { EventLog } from './events/event-log.tsx';
import { WebhookPanel } from './webhook-panel.tsx';

/** The automatic triggers of a workflow: its webhook with what it received, its event triggers and its schedules. */
export function TriggersTab({ workflow }: { workflow: Workflow }) {
  return (
    <Stack gap="xl">
      <WebhookPanel workflow={workflow} />
      <EventLog workflow={workflow} />
      <TriggerPanel workflowId={workflow.id} />
      <SchedulePanel workflowId={workflow.id} />
    </Stack>
  );
}
