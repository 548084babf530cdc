import { Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { WebhookDelivery } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { LoadMore } from '../../parts/data/load-more.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { deliveriesQuery } from '../../queries/data.ts';
import { useMay } from '../../queries/identity.ts';
import { DeliveryRow } from './delivery-row.tsx';
import { deliveryStatuses, deliveryStatusText } from './endpoint-status.tsx';
import { RetryAllFailed } from './redeliver-all.tsx';
import { RowTable } from '../../parts/data/row-table.tsx';

const columns = ['Delivery', 'Event', 'Status', 'Attempts', 'Created'];

/** The deliveries to an endpoint, newest first, with their attempts. */
export function DeliveryLog({ endpointId }: { endpointId: string }) {
  const search = useSearch({ from: '/inside/webhooks/$endpointId' });
  const navigate = useNavigate({ from: '/webhooks/$endpointId' });
  const status = deliveryStatuses.find((each) => each === search.status);
  const deliveries = useInfiniteQuery(deliveriesQuery(endpointId, { status }));
  const mayChange = useMay('manage_workspace');
  return (
    <Section title="Deliveries" actions={mayChange && <RetryAllFailed endpointId={endpointId} />}>
      <Select
        label="Status"
        placeholder="All"
        clearable
        clearButtonProps={{ 'aria-label': 'All statuses' }}
        maw={220}
        data={deliveryStatuses.map((value) => ({ value, label: deliveryStatusText(value) }))}
        value={status ?? null}
        onChange={(chosen) =>
          void navigate({ search: { status: chosen ?? undefined }, replace: true })
        }
      />
      <Loaded query={deliveries}>
        {({ pages }) => {
          const rows = pages.flatMap((page): WebhookDelivery[] => page.deliveries);
          if (rows.length === 0) return <NoDeliveries status={status} />;
          return (
            <Stack gap="sm">
              <RowTable
                label="Deliveries"
                columns={[...columns, { label: 'Actions', hidden: true }]}
                minWidth={860}
              >
                {rows.map((delivery) => (
                  <DeliveryRow
                    key={delivery.id}
                    endpointId={endpointId}
                    of={delivery}
                    mayRedeliver={mayChange}
                  />
                ))}
              </RowTable>
              <LoadMore query={deliveries} />
            </Stack>
          );
        }}
      </Loaded>
      <Text size="xs" c="dimmed">
        Deliveries are kept for 30 days.
      </Text>
    </Section>
  );
}

function NoDeliveries({ status }: { status: WebhookDelivery['status'] | undefined }) {
  if (status !== undefined) {
    return <Empty title={`No ${deliveryStatusText(status).toLowerCase()} deliveries`} />;
  }
  return (
    <Empty title="No deliveries yet">
      <Text size="sm" c="dimmed">
        Send a test event to check that the URL is reachable.
      </Text>
    </Empty>
  );
}
