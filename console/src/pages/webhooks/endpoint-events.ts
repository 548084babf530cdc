import type { DataEndpoint } from '../../../../client/index.ts';

/** The events that an endpoint can subscribe to. Every endpoint receives pings. */
export const endpointEvents: Record<Exclude<DataEndpoint['events'][number], 'ping'>, string> = {
  'run.completed': 'A run succeeded',
  'run.failed': 'A run failed or was cancelled',
  'run.paused': 'A run waits for an approval',
  'approval.requested': 'An approval was requested, at a gate or for a tool call',
  'entity.created': 'A record was created',
  'entity.updated': 'A record was changed',
  'intelligence_event.created': 'An event was created for a record',
  'intelligence_event.verified': 'An event was verified',
  'feed.status_changed': 'A feed was paused, archived or reactivated',
  'source.failed': 'A source check failed',
  'source.recovered': 'A source recovered',
  'usage.threshold_reached': 'Requests or credits reached 80% or 100% of the plan',
  'export.completed': 'An export completed',
};
