import { Radio, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Source } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { UserText } from '../../../parts/text/user-text.tsx';
import { sourcesKey } from '../../../queries/data.ts';
import { FormModal } from '../form-modal.tsx';

/** Reports the result of a source check by hand, as workflows and programs do. */
export function SourceReportForm({ source, onClose }: { source: Source; onClose: () => void }) {
  const [outcome, setOutcome] = useState('worked');
  const [reason, setReason] = useState('');
  const ok = outcome === 'worked';
  const report = useAction(
    () => api().reportSource(source.id, ok ? { ok } : { ok, error: reason.trim() || null }),
    { changes: [sourcesKey], done: 'Check result reported', quiet: true, onDone: onClose },
  );
  return (
    <FormModal
      title="Report check result"
      submit="Report result"
      action={report}
      onSubmit={() => report.mutate(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        Report the result of a check of <UserText>{source.name}</UserText>. Subscribed endpoints are
        notified when the source fails or recovers.
      </Text>
      <Radio.Group label="Result" value={outcome} onChange={setOutcome}>
        <Group mt={4}>
          <Radio value="worked" label="Succeeded" />
          <Radio value="failed" label="Failed" />
        </Group>
      </Radio.Group>
      {!ok && (
        <Textarea
          label="Error"
          placeholder="The portal returned 503"
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
