import { Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { WebhookDelivery } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { deliveryLog as text } from '#console/src/messages/en/webhooks.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { deliveriesQuery } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { DeliveryRow } from './delivery-row.tsx';
import { deliveryStatuses, deliveryStatusText } from './endpoint-status.tsx';
import { RetryAllFailed, RetryPeriod } from './redeliver-all.tsx';
import { RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

const columns = [text.delivery, words.event, words.status, text.attempts, words.created];

/** The deliveries to an endpoint, newest first, with their attempts. */
export function DeliveryLog({ endpointId }: { endpointId: string }) {
  const search = useSearch({ from: '/inside/webhooks/$endpointId' });
  const navigate = useNavigate({ from: '/webhooks/$endpointId' });
  const status = deliveryStatuses.find((each) => each === search.status);
  const deliveries = useInfiniteQuery(deliveriesQuery(endpointId, { status }));
  const mayChange = useMay('manage_workspace');
  return (
    <Section title={text.title} actions={mayChange && <Retries endpointId={endpointId} />}>
      <Select
        label={words.status}
        placeholder={text.all}
        clearable
        clearButtonProps={{ 'aria-label': text.allStatuses }}
        maw={220}
        data={deliveryStatuses.map((value) => ({ value, label: deliveryStatusText(value) }))}
        value={status ?? null}
        onChange={(chosen) =>
          void navigate({ search: { status: chosen ?? undefined }, replace: true })
        }
      />
      <LoadedList query={deliveries} empty={<NoDeliveries status={status} />}>
        {(rows) => (
          <RowTable
            label={text.title}
            columns={[...columns, { label: words.actions, hidden: true }]}
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
        )}
      </LoadedList>
      <Dimmed size="xs">{text.kept}</Dimmed>
    </Section>
  );
}

const Retries = ({ endpointId }: { endpointId: string }) => (
  <>
    <RetryPeriod endpointId={endpointId} />
    <RetryAllFailed endpointId={endpointId} />
  </>
);

function NoDeliveries({ status }: { status: WebhookDelivery['status'] | undefined }) {
  if (status !== undefined) {
    return <Empty title={text.noneOf[status]} about={text.noneOfAbout} />;
  }
  return <Empty {...text.empty} />;
}
