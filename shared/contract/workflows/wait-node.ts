import { z } from 'zod';
import { eventName } from '#shared/contract/events/event-name.ts';
import { common, MAX_WAIT_SECONDS, outputKey, text } from './node-common.ts';

/** An event that a `wait` waits for. */
const awaitedEventSchema = z
  .strictObject({
    name: eventName,
    /** An expression over `event` and the run's state. By default, every event of that name counts. */
    match: z.string().min(1).max(2_000).optional(),
  })
  .meta({ id: 'AwaitedEvent' });

/** What a `wait` does at its deadline. */
const waitTimeoutActions = ['fail', 'continue'] as const;

const MAX_AWAITED_EVENTS = 10;

// Waiting has no attempts.
const { retry: _retry, ...commonOfWait } = common;

/**
 * Waits for a time or an event, without a worker. It has exactly one of `seconds`, `until`, `event` and `any`. The event
 * is its output; `null`: its time ran out.
 */
export const waitNodeSchema = z
  .strictObject({
    ...commonOfWait,
    kind: z.literal('wait'),
    /** A number, or a template that gives one. */
    seconds: z.union([z.number().min(0).max(MAX_WAIT_SECONDS), text]).optional(),
    /** A template that gives an ISO time. A date is midnight UTC. A time in the past ends the wait at once. */
    until: text.optional(),
    event: awaitedEventSchema.optional(),
    /** The first of these events that arrives. */
    any: z.array(awaitedEventSchema).min(1).max(MAX_AWAITED_EVENTS).optional(),
    /** How long it waits for an event. */
    timeout_seconds: z.number().positive().max(MAX_WAIT_SECONDS).optional(),
    /** The default is `fail`. `continue` follows its `'false'` edges. */
    on_timeout: z.enum(waitTimeoutActions).optional(),
    /** State key of the event; the default is the node's id. */
    output_key: outputKey.optional(),
  })
  .meta({ id: 'WaitNode' });
