import type { DataEndpoint } from '../../../../client/index.ts';

/** What an endpoint can be told of. A ping is sent to each, so that nobody has to ask for it. */
export const endpointEvents: Record<Exclude<DataEndpoint['events'][number], 'ping'>, string> = {
  'entity.created': 'A record is new',
  'entity.updated': 'A record changed',
  'intelligence_event.created': 'Something happened to a record',
  'intelligence_event.verified': 'An event was verified',
  'feed.status_changed': 'A feed was paused, archived or taken up again',
  'source.failed': 'A look at a source failed',
  'source.recovered': 'A source works again',
  'usage.threshold_reached': 'Requests or credits come to an end',
  'export.completed': 'An export is done',
};
