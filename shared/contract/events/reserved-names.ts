import { outboundEventTypes } from '#shared/contract/data/outbound.ts';
import { eventName } from './event-name.ts';

/** Names that the service uses for its own events. */
const RESERVED = /^(entity|intelligence_event|feed|source|usage|export|run)\./i;

const isReservedName = (name: string): boolean => RESERVED.test(name);

/** The name of an event that callers send. */
export const sentEventName = eventName.refine(
  (name) => !isReservedName(name),
  'is reserved: names that begin with entity., intelligence_event., feed., source., usage., export. or run. are those of the service',
);

/** The names of the events that the service sends itself, when live records of the data API change. */
export const serviceEvents: readonly string[] = outboundEventTypes.filter((name) =>
  /^(entity|intelligence_event|feed|source)\./.test(name),
);

/** The name of an event that a run or a trigger waits for. */
export const awaitedEventName = eventName.refine(
  (name) => !isReservedName(name) || serviceEvents.includes(name),
  `is reserved, and the service sends no such event; it sends ${serviceEvents.join(', ')}`,
);
