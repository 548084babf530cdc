import { sentenceCase } from '../../parts/text/sentence-case.ts';
import { Tag } from '../../parts/tag.tsx';
import type { WebhookDelivery, DataEndpoint } from '../../../../client/index.ts';

export function EndpointStatus({ of: { status } }: { of: DataEndpoint }) {
  return <Tag color={status === 'active' ? 'teal' : 'red'}>{sentenceCase(status)}</Tag>;
}

const deliveryLooks = {
  pending: { text: 'Pending', color: 'blue' },
  delivered: { text: 'Delivered', color: 'teal' },
  dead: { text: 'Failed', color: 'red' },
} as const satisfies Record<WebhookDelivery['status'], object>;

export const deliveryStatuses = Object.keys(deliveryLooks) as WebhookDelivery['status'][];
export const deliveryStatusText = (status: WebhookDelivery['status']): string =>
  deliveryLooks[status].text;

export function DeliveryStatus({ of: { status } }: { of: WebhookDelivery }) {
  const { text, color } = deliveryLooks[status];
  return <Tag color={color}>{text}</Tag>;
}
