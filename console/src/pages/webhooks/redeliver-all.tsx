import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import type { Redelivered } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { redeliverAll as text } from '#console/src/messages/en/webhooks.ts';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { usePeriod } from '#console/src/parts/forms/period.tsx';
import { endpointsKey } from '#console/src/queries/data.ts';

/** Deliveries are kept for 30 days. One more day includes all of them. */
const KEPT_MS = 31 * 86_400_000;

function doneText({ redelivered, left }: Redelivered, none: string): string {
  if (left > 0) return text.scheduledInPart(redelivered, left);
  return redelivered === 0 ? none : text.scheduled(redelivered);
}

export function RetryAllFailed({ endpointId }: { endpointId: string }) {
  const redeliver = useAction(
    () => api().redeliverDeadLetters(endpointId, new Date(Date.now() - KEPT_MS).toISOString()),
    {
      changes: [endpointsKey],
      done: (redelivered) => doneText(redelivered, text.noneFailed),
    },
  );
  return (
    <ActionButton
      size="compact-sm"
      action={redeliver}
      ask={{ ...text.confirmRetryAll, dangerous: false }}
    >
      {text.retryAllFailed}
    </ActionButton>
  );
}

/** Sends the deliveries of a period again: the failed ones, or all. */
export function RetryPeriod({ endpointId }: { endpointId: string }) {
  return (
    <ModalButton size="compact-sm" label={text.retryPeriod} title={text.retry}>
      {(close) => <PeriodForm endpointId={endpointId} onClose={close} />}
    </ModalButton>
  );
}

function PeriodForm({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const period = usePeriod(text);
  const [status, setStatus] = useState<'dead' | 'all'>('dead');
  const redeliver = useAction(
    () =>
      api().redeliverDeadLetters(endpointId, {
        ...period.chosen(),
        status,
      }),
    {
      changes: [endpointsKey],
      done: (redelivered) => doneText(redelivered, text.noneInPeriod),
      quiet: true,
      onDone: onClose,
    },
  );
  return (
    <Form action={redeliver} submit={text.retry} ready={period.complete} onCancel={onClose}>
      <Text size="sm">{text.periodAbout}</Text>
      <Select
        label={text.deliveries}
        data={[
          { value: 'dead', label: text.failed },
          { value: 'all', label: text.failedAndDelivered },
        ]}
        value={status}
        allowDeselect={false}
        onChange={(chosen) => setStatus(chosen === 'all' ? 'all' : 'dead')}
      />
      {period.fields}
    </Form>
  );
}
