import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { words } from '#console/src/messages/en/words.ts';
import { endpointPage as text, listener } from '#console/src/messages/en/webhooks.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { endpointQuery } from '#console/src/queries/data.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointStatus, isListener } from './endpoint-status.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';

/** An endpoint: its subscribed events and its deliveries. */
export function EndpointPage() {
  const { endpointId } = useParams({ from: '/inside/webhooks/$endpointId' });
  const endpoint = useQuery(endpointQuery(endpointId));
  return (
    <Loaded query={endpoint}>
      {(loaded) => (
        <Page title={loaded.url} actions={<EndpointActions endpoint={loaded} />}>
          <Facts
            of={[
              [
                words.status,
                <Group key="status" gap="xs">
                  <EndpointStatus of={loaded} />
                  {loaded.consecutive_failures > 0 &&
                    text.consecutiveFailures(loaded.consecutive_failures)}
                </Group>,
              ],
              [words.mode, <KindBadge key="kind" isDemo={loaded.is_demo} />],
              [text.events, loaded.events.join(', ')],
              [
                text.lastDelivery,
                loaded.last_delivery_at === null ? (
                  text.never
                ) : (
                  <When key="last" at={loaded.last_delivery_at} ago />
                ),
              ],
              [words.created, <When key="made" at={loaded.created_at} />],
            ]}
          />
          {isListener(loaded) ? (
            <Empty title={listener.title} about={listener.about} />
          ) : (
            <DeliveryLog endpointId={endpointId} />
          )}
        </Page>
      )}
    </Loaded>
  );
}
