/** What webhook endpoints of the data API can be told of. */
export const outboundEventTypes = [
  'entity.created',
  'entity.updated',
  'intelligence_event.created',
  'intelligence_event.verified',
  'feed.status_changed',
  'source.failed',
  'source.recovered',
  'usage.threshold_reached',
  'export.completed',
  'ping',
] as const;
export type OutboundEventType = (typeof outboundEventTypes)[number];
