import { z } from 'zod';
import { jsonValue } from '#shared/contract/common.ts';
import { sentEventName } from '#shared/contract/events/reserved-names.ts';
import { etag } from '#shared/contract/if-match.ts';

/** The longest deduplication window: 30 days. */
const MAX_DEDUP_SECONDS = 2_592_000;
const MAX_TOLERANCE_SECONDS = 86_400;

const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-service-signature',
]);

const settings = {
  require_signature: z.boolean().meta({
    description: 'Refuse requests without a valid `X-Service-Timestamp` and `X-Service-Signature`',
  }),
  timestamp_tolerance_seconds: z.int().min(1).max(MAX_TOLERANCE_SECONDS).meta({
    description: 'How far the time of a signature may be from now, before or after',
  }),
  dedup_window_seconds: z.int().min(0).max(MAX_DEDUP_SECONDS).meta({
    description: 'How long a known event starts no second run; 0: every request starts one',
  }),
  event_id_field: z.string().min(1).max(200).meta({
    description: 'The body field with the event id, without an `X-Service-Event-Id`',
  }),
  event_id_header: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')
    .refine(
      (name) => !CREDENTIALS.has(name.toLowerCase()),
      'must not be a header with a credential',
    )
    .nullable()
    .meta({
      description:
        'The header with the event id; it decides alone. Null: `X-Service-Event-Id`, then the body',
      examples: ['X-GitHub-Delivery'],
    }),
  accept_forms: z.boolean().meta({
    description: 'Take the fields of a form, by its content type, as the input',
  }),
  event: sentEventName.nullable().meta({
    description:
      'Send each request as an event of this name, with the body as its data, instead of starting a run. Null: start a run',
  }),
  answer_challenges: z.boolean().meta({
    description:
      'Answer the challenges by which senders check an address, without a run: `{"type": "url_verification", ' +
      '"challenge": ...}` and `?validationToken=...`',
  }),
};

/** The settings of a workflow's webhook before its first change. */
export const webhookDefaults = {
  require_signature: false,
  timestamp_tolerance_seconds: 300,
  dedup_window_seconds: 0,
  event_id_field: 'event_id',
  event_id_header: null,
  accept_forms: false,
  event: null,
  answer_challenges: false,
} as const;

export const webhookConfigInput = z
  .strictObject(settings)
  .partial()
  .meta({ examples: [{ require_signature: true, dedup_window_seconds: 3_600 }] });
export type WebhookConfigInput = z.infer<typeof webhookConfigInput>;

const url = z.string().meta({
  description: 'The address for events. Anyone who has it can start runs',
  examples: ['https://ops.example.com/api/hooks/wf_01m7.../5f0c...'],
});

export const enabledWebhookSchema = z
  .object({ enabled: z.literal(true), url })
  .meta({ id: 'EnabledWebhook' });

export const webhookSchema = z
  .object({
    enabled: z.boolean(),
    url: url.nullable().meta({ description: 'Null while disabled' }),
    ...settings,
    etag,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhookSchema>;

/** For the OpenAPI document: the body is read as bytes, with any content type. */
export const hookBody = jsonValue.optional().meta({
  description:
    'Any JSON. An object is the input of the run, any other value becomes its `payload`; an empty body is `{}`. With ' +
    '`accept_forms`, also a form.',
  examples: [{ event_id: 'evt_1042', ticket: 'The printer is on fire' }],
});

/** The response to a challenge in the body. */
export const challengeSchema = z.object({ challenge: z.string() }).meta({ id: 'HookChallenge' });

export const hookAnswerSchema = z
  .object({
    run_id: z.string(),
    status: z
      .enum(['pending', 'duplicate'])
      .meta({ description: '`duplicate`: the run that the event has already started' }),
    deduplicated: z.literal(true).optional(),
  })
  .meta({ id: 'HookAnswer' });
export type HookAnswer = z.infer<typeof hookAnswerSchema>;

/** The response of a webhook that sends events, and to the replay of one of them. */
export const hookEventSchema = z
  .object({
    event_id: z.string().meta({ description: 'The event, as in `GET /api/events/{id}`' }),
    status: z
      .enum(['event', 'duplicate'])
      .meta({ description: '`duplicate`: the event that was stored before' }),
    deduplicated: z.literal(true).optional(),
  })
  .meta({ id: 'HookEvent' });
export type HookEvent = z.infer<typeof hookEventSchema>;
