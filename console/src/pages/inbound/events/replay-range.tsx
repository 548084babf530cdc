import { Checkbox, Select, Text } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '#console/src/api.ts';
import { replayRange as text } from '#console/src/messages/en/workflows/inbound-events.ts';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { usePeriod } from '#console/src/parts/forms/period.tsx';
import { inboundEventsKey } from '#console/src/queries/inbound-events.ts';

/** Replays the events of a period. */
export function ReplayRange({ workflowId }: { workflowId: string }) {
  return (
    <ModalButton
      size="compact-sm"
      leftSection={<IconRepeat size={14} aria-hidden />}
      label={text.replay}
      title={text.replay}
    >
      {(close) => <RangeForm workflowId={workflowId} onClose={close} />}
    </ModalButton>
  );
}

function RangeForm({ workflowId, onClose }: { workflowId: string; onClose: () => void }) {
  const period = usePeriod(text);
  const [outcome, setOutcome] = useState<'refused' | 'all'>('refused');
  const [deduplicate, setDeduplicate] = useState(true);
  const start = useAction(
    () =>
      api().replayInboundEvents(workflowId, {
        ...period.chosen(),
        outcome,
        deduplicate,
      }),
    { changes: [inboundEventsKey], done: text.started, quiet: true, onDone: onClose },
  );
  return (
    <Form action={start} submit={text.replay} ready={period.complete} onCancel={onClose}>
      <Text size="sm">{text.about}</Text>
      <Select
        label={text.events}
        data={[
          { value: 'refused', label: text.refused },
          { value: 'all', label: text.all },
        ]}
        value={outcome}
        allowDeselect={false}
        onChange={(chosen) => setOutcome(chosen === 'all' ? 'all' : 'refused')}
      />
      {period.fields}
      <Checkbox
        label={text.deduplicate}
        description={text.deduplicateAbout}
        checked={deduplicate}
        onChange={(event) => setDeduplicate(event.currentTarget.checked)}
      />
    </Form>
  );
}
