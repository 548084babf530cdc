import { Button, Checkbox, Modal, Select, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconRepeat } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../../../api.ts';
import { replayRange as text } from '../../../../messages/en/workflows/inbound-events.ts';
import { useAction } from '../../../../parts/forms/action.ts';
import { Form } from '../../../../parts/forms/form.tsx';
import { localTime } from '../../../../parts/text/times.ts';
import { inboundEventsKey } from '../../../../queries/inbound-events.ts';

/** Replays the events of a period. */
export function ReplayRange({ workflowId }: { workflowId: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconRepeat size={14} aria-hidden />}
        onClick={open}
      >
        {text.replay}
      </Button>
      <Modal opened={opened} onClose={close} title={text.replay} size="md">
        <RangeForm workflowId={workflowId} onClose={close} />
      </Modal>
    </>
  );
}

const DAY_MS = 86_400_000;

function RangeForm({ workflowId, onClose }: { workflowId: string; onClose: () => void }) {
  const [since, setSince] = useState(() => localTime(Date.now() - DAY_MS));
  const [until, setUntil] = useState('');
  const [outcome, setOutcome] = useState<'refused' | 'all'>('refused');
  const [deduplicate, setDeduplicate] = useState(true);
  const start = useAction(
    () =>
      api().replayInboundEvents(workflowId, {
        since: new Date(since).toISOString(),
        ...(until === '' ? {} : { until: new Date(until).toISOString() }),
        outcome,
        deduplicate,
      }),
    { changes: [inboundEventsKey], done: text.started, quiet: true, onDone: onClose },
  );
  return (
    <Form
      action={start}
      submit={text.replay}
      ready={since !== ''}
      onSubmit={() => start.mutate(undefined)}
      onCancel={onClose}
    >
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
      <TextInput
        label={text.since}
        type="datetime-local"
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
      <TextInput
        label={text.until}
        description={text.untilAbout}
        type="datetime-local"
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <Checkbox
        label={text.deduplicate}
        description={text.deduplicateAbout}
        checked={deduplicate}
        onChange={(event) => setDeduplicate(event.currentTarget.checked)}
      />
    </Form>
  );
}
