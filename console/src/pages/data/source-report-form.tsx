import { Radio, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Source } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { UserText } from '../../parts/user-text.tsx';
import { sourcesKey } from '../../queries/data.ts';
import { FormModal } from './form-modal.tsx';

/** Says by hand what a look at a source came to, as workflows and programs do. */
export function SourceReportForm({ source, onClose }: { source: Source; onClose: () => void }) {
  const [outcome, setOutcome] = useState('worked');
  const [reason, setReason] = useState('');
  const ok = outcome === 'worked';
  const report = useAction(
    () => api().reportSource(source.id, ok ? { ok } : { ok, error: reason.trim() || null }),
    { changes: [sourcesKey], done: 'Reported', quiet: true, onDone: onClose },
  );
  return (
    <FormModal
      title="Report a look"
      submit="Report it"
      action={report}
      onSubmit={() => report.mutate(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        What a look at <UserText>{source.name}</UserText> came to just now. Endpoints that listen
        are told when it fails and when it works again.
      </Text>
      <Radio.Group label="The look" value={outcome} onChange={setOutcome}>
        <Group mt={4}>
          <Radio value="worked" label="worked" />
          <Radio value="failed" label="failed" />
        </Group>
      </Radio.Group>
      {!ok && (
        <Textarea
          label="Why"
          placeholder="The portal answered 503"
          autosize
          minRows={2}
          maxLength={2_000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </FormModal>
  );
}
