import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';
import { awaitedEventName } from '#shared/contract/events/reserved-names.ts';
import { etag } from '#shared/contract/if-match.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/**
 * The limits of a workflow: how many of its runs are in flight at a time, how many start within a time, which first, and
 * which events cancel them.
 */

/** The longest filled-in key. */
export const MAX_KEY = 200;
const MOST_SLOTS = 10_000;
/** A day, in seconds. */
const LONGEST_WINDOW = 86_400;

const onLimitModes = ['queue', 'reject', 'skip', 'cancel_running'] as const;

const keyTemplate = z.string().max(500).nullable().default(null).meta({
  description:
    'A template over the input of a run, such as `{customer}`: each value has a limit of its own. By default, all runs of the workflow share one',
});

const concurrencySchema = z
  .strictObject({
    limit: z.int().min(1).max(MOST_SLOTS).meta({
      description: 'How many runs with the same key are in flight at a time',
    }),
    key: keyTemplate,
    on_limit: z.enum(onLimitModes).default('queue').meta({
      description:
        'What happens to a run that is triggered while all slots are taken. `queue`: it waits for one. `reject`: the trigger gets 409. `skip`: it gets 200, without a run. `cancel_running`: only the newest runs of the key stay, and the others are cancelled',
    }),
    hold_while_paused: z.boolean().default(true).meta({
      description:
        'False: a run that pauses for a person gives up its slot, and waits for another one when it continues',
    }),
  })
  .meta({ id: 'ConcurrencyLimit' });

const rateSchema = z
  .strictObject({
    limit: z.int().min(1).max(MOST_SLOTS).meta({
      description:
        'How many runs with the same key start within any `per_seconds`. Further ones wait',
    }),
    per_seconds: z.int().min(1).max(LONGEST_WINDOW),
    key: keyTemplate,
  })
  .meta({ id: 'RateLimit' });

/** How many events can cancel the runs of a workflow. */
const MOST_CANCELS = 10;

const cancelSchema = z
  .strictObject({
    event: awaitedEventName,
    match: z.string().min(1).max(2_000).nullable().default(null).meta({
      description:
        'An expression over `event` and the input of a run, such as `event.data.order == order`; it does not read what the run has computed. By default, every event of that name cancels every open run',
      example: 'event.data.order == order',
    }),
  })
  .meta({ id: 'CancelEvent' });
export type CancelEvent = z.output<typeof cancelSchema>;

/** By default, a run waits at most this many times as long as without further triggers. */
const LONGEST_DEBOUNCE = 10;

const debounceSchema = z
  .strictObject({
    seconds: z.number().min(0.1).max(LONGEST_WINDOW).meta({
      description:
        'How long a run waits for further triggers with the same key. Each starts this time again',
    }),
    key: keyTemplate,
    max_seconds: z
      .number()
      .min(0.1)
      .max(LONGEST_WINDOW)
      .nullable()
      .default(null)
      .meta({
        description: `How long it waits at most, from its first trigger. By default ${LONGEST_DEBOUNCE} times \`seconds\`, at most a day`,
      }),
  })
  .refine(({ seconds, max_seconds: most }) => most === null || most >= seconds, {
    path: ['max_seconds'],
    message: 'must be at least seconds',
  })
  .meta({ id: 'Debounce' });

/** How long a run waits at most for further triggers, in seconds. */
export const longestDebounce = ({ seconds, max_seconds: most }: z.output<typeof debounceSchema>) =>
  most ?? Math.min(seconds * LONGEST_DEBOUNCE, LONGEST_WINDOW);

/** The limits of a workflow, without what is computed. */
export const limitFields = {
  concurrency: concurrencySchema.nullable(),
  rate: rateSchema.nullable(),
  debounce: debounceSchema.nullable(),
  priority: z.string().min(1).max(2_000).nullable().meta({
    description:
      'An expression over the input of a run: a number from -100 to 100, to which others are set. Of the runs that wait with the same key, the one with the highest starts first. By default 0',
  }),
  cancel_on: z.array(cancelSchema).max(MOST_CANCELS).meta({
    description:
      'Events that cancel open runs: those that were created before the event, and for which `match` is true. A run keeps those of its trigger',
  }),
};

export const limitsInput = z
  .strictObject({
    concurrency: limitFields.concurrency.default(null),
    rate: limitFields.rate.default(null),
    debounce: limitFields.debounce.default(null),
    priority: limitFields.priority.default(null),
    cancel_on: limitFields.cancel_on.default([]),
  })
  .meta({
    examples: [
      {
        concurrency: { limit: 2, key: '{customer}', on_limit: 'queue' },
        rate: { limit: 100, per_seconds: 60 },
        priority: 'default(level, 0)',
        cancel_on: [{ event: 'order.cancelled', match: 'event.data.order == order' }],
      },
    ],
  });

/** The limits as they are stored. */
export type StoredLimits = z.output<typeof limitsInput>;

/** Limits that limit nothing are the same as none. */
export const limitsOrNull = (limits: StoredLimits | null): StoredLimits | null =>
  canonicalJson({ ...limits }) === NO_LIMITS ? null : limits;

const NO_LIMITS = canonicalJson({ ...limitsInput.parse({}) });

/** The limits that a template has for its workflows. */
export const templateLimits = z.object(limitFields).meta({ id: 'Limits' });

export const limitsSchema = z
  .object({
    ...limitFields,
    warnings: z.array(z.string()).meta({
      description: 'Why runs could wait for each other, as far as the current version shows it',
    }),
    last_failed_match: z
      .object({ at: timestamp, event_id: z.string(), run_id: z.string(), reason: z.string() })
      .nullable()
      .meta({
        description:
          'The latest event for which a `match` of `cancel_on` failed, with the first such run, as long as the event is kept',
      }),
    etag,
  })
  .meta({ id: 'WorkflowLimits' });
export type WorkflowLimits = z.infer<typeof limitsSchema>;

/** The answer to a trigger that started no run. */
export const skippedRunSchema = z
  .object({ run_id: z.null(), status: z.literal('skipped'), detail: z.string() })
  .meta({
    id: 'SkippedRun',
    description: 'All slots of the key are taken, and `on_limit` is `skip`',
  });
export type SkippedRun = z.infer<typeof skippedRunSchema>;
