import { z } from 'zod';
import { awaitedEventName } from '#shared/contract/events/reserved-names.ts';
import { common, MAX_WAIT_SECONDS, outputKey, text } from './node-common.ts';

/** An event that a `wait` waits for. */
const awaitedEventSchema = z
  .strictObject({
    name: awaitedEventName,
    match: z.string().min(1).max(2_000).optional().meta({
      description:
        "An expression over `event` and the run's state. By default, every event of that name counts",
    }),
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
    seconds: z
      .union([z.number().min(0).max(MAX_WAIT_SECONDS), text])
      .optional()
      .meta({ description: 'A number, or a template that gives one' }),
    until: text.optional().meta({
      description:
        'A template that gives an ISO time. A date is midnight UTC. A time in the past ends the wait at once',
    }),
    event: awaitedEventSchema.optional(),
    any: z
      .array(awaitedEventSchema)
      .min(1)
      .max(MAX_AWAITED_EVENTS)
      .optional()
      .meta({ description: 'The first of these events that arrives' }),
    callback: z.literal(true).optional().meta({
      description:
        'Until a POST comes to the address that `{callbacks.<id of the node>}` is in the parameters of tools. Its JSON is the output',
    }),
    timeout_seconds: z
      .number()
      .positive()
      .max(MAX_WAIT_SECONDS)
      .optional()
      .meta({ description: 'How long it waits for an event or a callback' }),
    on_timeout: z
      .enum(waitTimeoutActions)
      .optional()
      .meta({ description: "The default is `fail`. `continue` follows its `'false'` edges" }),
    remind_seconds: z
      .number()
      .min(1)
      .max(MAX_WAIT_SECONDS)
      .optional()
      .meta({ description: 'After so long, an alert says that the run still waits, once' }),
    output_key: outputKey
      .optional()
      .meta({ description: "State key of the output; the default is the node's id" }),
  })
  .meta({ id: 'WaitNode' });
