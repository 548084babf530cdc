import {
  deliveryStatuses as deliveryTexts,
  endpointStatuses,
  listener as listenerText,
} from '#console/src/messages/en/webhooks.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import type { WebhookDelivery, DataEndpoint } from '#client/index.ts';

/** Whether nothing is sent to the endpoint, because `ops listen` reads its events. */
export const isListener = ({ url }: DataEndpoint): boolean => url.startsWith('listen:');

export function EndpointStatus({ of: endpoint }: { of: DataEndpoint }) {
  if (isListener(endpoint)) return <Tag color="info">{listenerText.status}</Tag>;
  const { status } = endpoint;
  return <Tag color={status === 'active' ? 'success' : 'danger'}>{endpointStatuses[status]}</Tag>;
}

const deliveryLooks = {
  pending: { text: deliveryTexts.pending, color: 'info' },
  delivered: { text: deliveryTexts.delivered, color: 'success' },
  dead: { text: deliveryTexts.dead, color: 'danger' },
} as const satisfies Record<WebhookDelivery['status'], object>;

export const deliveryStatuses = Object.keys(deliveryLooks) as WebhookDelivery['status'][];
export const deliveryStatusText = (status: WebhookDelivery['status']): string =>
  deliveryLooks[status].text;

export function DeliveryStatus({ of: { status } }: { of: WebhookDelivery }) {
  const { text, color } = deliveryLooks[status];
  return <Tag color={color}>{text}</Tag>;
}
