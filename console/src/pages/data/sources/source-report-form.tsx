import { Radio, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Source } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { sourceReportForm as text } from '#console/src/messages/en/data/sources.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { sourcesKey } from '#console/src/queries/data.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';

/** Reports the result of a source check by hand, as workflows and programs do. */
export function SourceReportForm({ source, onClose }: { source: Source; onClose: () => void }) {
  const [outcome, setOutcome] = useState('worked');
  const [reason, setReason] = useState('');
  const ok = outcome === 'worked';
  const report = useAction(
    () => api().reportSource(source.id, ok ? { ok } : { ok, error: reason.trim() || null }),
    { changes: [sourcesKey], done: text.reported, quiet: true, onDone: onClose },
  );
  return (
    <FormModal title={text.title} submit={text.submit} action={report} onClose={onClose}>
      <Text size="sm">
        <Message text={text.about} values={{ name: source.name }} />
      </Text>
      <Radio.Group label={words.result} value={outcome} onChange={setOutcome}>
        <Group mt={4}>
          <Radio value="worked" label={text.succeeded} />
          <Radio value="failed" label={text.failed} />
        </Group>
      </Radio.Group>
      {!ok && (
        <Textarea
          label={words.error}
          placeholder={text.errorPlaceholder}
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
