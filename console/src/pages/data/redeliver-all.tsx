import { Button } from '@mantine/core';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { confirm } from '../../parts/confirm.tsx';
import { countText } from '../../parts/numbers.ts';
import { endpointsKey } from '../../queries/data.ts';

/** Deliveries are kept for 30 days; a day more leaves none out. */
const KEPT_MS = 31 * 86_400_000;

/** Delivers everything that was given up once more. */
export function RedeliverAll({ endpointId }: { endpointId: string }) {
  const redeliver = useAction(
    () => api().redeliverDeadLetters(endpointId, new Date(Date.now() - KEPT_MS).toISOString()),
    {
      changes: [endpointsKey],
      done: ({ redelivered, left }) =>
        redelivered === 0 && left === 0
          ? 'Nothing was given up'
          : `${countText(redelivered)} delivered once more` +
            (left > 0 ? `. For ${countText(left)} there is no room yet: do it again later` : ''),
    },
  );
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={redeliver.isPending}
      onClick={() =>
        confirm({
          title: 'Redeliver all that was given up?',
          consequence:
            'Everything that was given up in the last 30 days is sent again, oldest first, under the same ids.',
          confirmLabel: 'Redeliver it all',
          dangerous: false,
          onConfirm: () => redeliver.mutate(undefined),
        })
      }
    >
      Redeliver all given up
    </Button>
  );
}
