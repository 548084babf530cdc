import { Button } from '@mantine/core';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { countText } from '../../parts/text/numbers.ts';
import { endpointsKey } from '../../queries/data.ts';

/** Deliveries are kept for 30 days; one more day includes all of them. */
const KEPT_MS = 31 * 86_400_000;

export function RetryAllFailed({ endpointId }: { endpointId: string }) {
  const redeliver = useAction(
    () => api().redeliverDeadLetters(endpointId, new Date(Date.now() - KEPT_MS).toISOString()),
    {
      changes: [endpointsKey],
      done: ({ redelivered, left }) =>
        redelivered === 0 && left === 0
          ? 'No failed deliveries'
          : `${countText(redelivered)} deliveries scheduled for retry` +
            (left > 0 ? `. ${countText(left)} did not fit in the queue. Retry them later` : ''),
    },
  );
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={redeliver.isPending}
      onClick={() =>
        confirm({
          title: 'Retry all failed deliveries?',
          consequence:
            'Failed deliveries of the last 30 days are sent again with the same IDs, oldest first.',
          confirmLabel: 'Retry all',
          dangerous: false,
          onConfirm: () => redeliver.mutate(undefined),
        })
      }
    >
      Retry all failed
    </Button>
  );
}
