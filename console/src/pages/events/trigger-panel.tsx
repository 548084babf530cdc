import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { triggerPanel as text } from '#console/src/messages/en/workflows/events.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { triggersQuery } from '#console/src/queries/events.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { TriggerDialog } from './trigger-dialog.tsx';
import { TriggerTable } from './trigger-table.tsx';

/** The event triggers of one workflow. */
export function TriggerPanel({ workflowId }: { workflowId: string }) {
  const query = useQuery(triggersQuery(workflowId));
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
      <TriggerDialog opened={creating} onClose={() => setCreating(false)} workflowId={workflowId} />
      <Loaded query={query}>
        {(triggers) =>
          triggers.length === 0 ? (
            <Empty {...text.empty} missing={!mayEdit && 'create_edit_workflows'}>
              {mayEdit && <Button onClick={() => setCreating(true)}>{text.empty.create}</Button>}
            </Empty>
          ) : (
            <TriggerTable triggers={triggers} workflowId={workflowId} />
          )
        }
      </Loaded>
    </Section>
  );
}
