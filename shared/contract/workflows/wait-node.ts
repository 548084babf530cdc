import { z } from 'zod';
import { awaitedEventName } from '#shared/contract/events/reserved-names.ts';
import { common, MAX_WAIT_SECONDS, outputKey, text } from './node-common.ts';

/** An event that a `wait` waits for. */
const awaitedEventSchema = z
  .strictObject({
    name: awaitedEventName,
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
 * Waits for a time, an event or a callback, without a worker. It has exactly one of `seconds`, `until`, `event`, `any` and
 * `callback`. The event, or the body of the callback, is its output; `null`: its time ran out.
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
    /**
     * Until a POST comes to the address that `{callbacks.<id of the node>}` is in the parameters of tools. Its JSON is the
     * output.
     */
    callback: z.literal(true).optional(),
    /** How long it waits for an event or a callback. */
    timeout_seconds: z.number().positive().max(MAX_WAIT_SECONDS).optional(),
    /** The default is `fail`. `continue` follows its `'false'` edges. */
    on_timeout: z.enum(waitTimeoutActions).optional(),
    /** After so long, an alert says that the run still waits, once. */
    remind_seconds: z.number().min(1).max(MAX_WAIT_SECONDS).optional(),
    /** State key of the output; the default is the node's id. */
    output_key: outputKey.optional(),
  })
  .meta({ id: 'WaitNode' });
