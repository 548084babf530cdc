import type { WebhookDelivery, DataEndpoint } from '../../../../client/index.ts';
import { Badge } from '@mantine/core';

export function EndpointStatus({ of: { status } }: { of: DataEndpoint }) {
  return (
    <Badge variant="light" color={status === 'active' ? 'teal' : 'red'} tt="none">
      {status}
    </Badge>
  );
}

const deliveryLooks = {
  pending: { text: 'pending', color: 'blue' },
  delivered: { text: 'delivered', color: 'teal' },
  dead: { text: 'given up', color: 'red' },
} as const satisfies Record<WebhookDelivery['status'], object>;

export const deliveryStatuses = Object.keys(deliveryLooks) as WebhookDelivery['status'][];
export const deliveryStatusText = (status: WebhookDelivery['status']): string =>
  deliveryLooks[status].text;

export function DeliveryStatus({ of: { status } }: { of: WebhookDelivery }) {
  const { text, color } = deliveryLooks[status];
  return (
    <Badge variant="light" color={color} tt="none">
      {text}
    </Badge>
  );
}
