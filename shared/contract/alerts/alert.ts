import { z } from 'zod';
import { etag } from '#shared/contract/if-match.ts';
import { endpointUrl } from '#shared/contract/data/outbound.ts';
import { emailInput } from '#shared/contract/people/member.ts';
import { slackInput, slackSchema, workflowSlackInput } from '#shared/contract/slack/settings.ts';
import { alertChannels, alertEvents } from './alerts.ts';

const channel = z.enum(alertChannels);

/** The most addresses of a workspace or a workflow, and the most workflows with settings of their own. */
const MAX_ADDRESSES = 20;
const MAX_WORKFLOWS = 200;

/** Replaces the rest of a webhook's URL, which is a secret. */
const URL_MASK = '***';

/** A webhook's URL as people see it. */
export const maskedUrl = (origin: string): string => `${origin}/${URL_MASK}`;

/** Whether it is a URL as people see it, which means the stored one. */
export const isMaskedUrl = (url: string): boolean => url.endsWith(`/${URL_MASK}`);

/** Without keys, which are secrets of the operator. */
const alertChannelSchema = z
  .object({
    channel,
    configured: z.boolean(),
    source: z
      .enum(['workspace', 'service'])
      .nullable()
      .meta({ description: 'Whose address it sends to; null if there is none' }),
    events: z.array(z.enum(alertEvents)).meta({
      description:
        'The events it sends once it is configured: runs that failed, paused or wait for long, budgets that reached 80% or 100% ' +
        'of their limit, and connections of the workspace that need a sign-in',
    }),
    hint: z.string().meta({ description: 'How to configure it' }),
    team_id: z.string().nullable().meta({
      description: 'Of Slack: the team, as Slack named it at the sign-in',
    }),
    problem: z.string().nullable().meta({
      description: 'Of Slack: why it refused the last message; null if it accepted it',
    }),
  })
  .meta({ id: 'AlertChannel' });

const chatWebhook = endpointUrl.meta({
  description: `An incoming webhook, which gets \`{"text": ...}\`. Stored sealed, and shown as its origin with \`/${URL_MASK}\`; send that back to keep it`,
});

const slack = slackInput.nullable().default(null).meta({
  description:
    'Asks for each decision in a channel of Slack, where members can make it. Null turns it off',
});

const unique = (values: readonly string[]): boolean => new Set(values).size === values.length;

const addresses = z
  .array(emailInput)
  .max(MAX_ADDRESSES)
  .refine((emails) => unique(emails.map((email) => email.toLowerCase())), 'has an address twice');

const events = z
  .array(z.enum(alertEvents))
  .max(alertEvents.length)
  .refine(unique, 'has an event twice');

const workflowAlertsInput = z.strictObject({
  chat_webhook_url: chatWebhook.optional(),
  email: addresses.optional().meta({ description: 'Instead of those of the workspace' }),
  slack: workflowSlackInput.optional().meta({
    description: 'Another channel, if the workspace uses Slack',
  }),
  on: events.optional().meta({ description: 'Instead of those of the workspace; [] for none' }),
});

/** What a workspace sends alerts for, and to whom. What is absent has its default. */
export const alertSettingsInput = z.strictObject({
  chat_webhook_url: chatWebhook.nullable().default(null),
  email: addresses.default([]).meta({ description: 'Get each alert in one email' }),
  slack,
  on: events.default([...alertEvents]).meta({ description: 'What it sends alerts for' }),
  workflows: z
    .record(z.string().min(1).max(100), workflowAlertsInput)
    .refine((workflows) => Object.keys(workflows).length <= MAX_WORKFLOWS, {
      error: `has more than ${MAX_WORKFLOWS} workflows`,
    })
    .default({})
    .meta({ description: 'What differs for the runs of a workflow, by its id' }),
  decide_by_link: z.boolean().default(false).meta({
    description:
      'Whether emails to members have a link that decides the gate as that member, without signing in. Turning it off ends all links',
  }),
  accept_link_risk: z.literal(true).optional().meta({
    description:
      'Required to turn `decide_by_link` on: anyone who has the email can decide as the member',
  }),
});

const workflowAlertsSchema = z
  .object({
    chat_webhook_url: z.string().optional(),
    email: z.array(z.string()).optional(),
    slack: z.object({ channel: z.string() }).optional(),
    on: z.array(z.enum(alertEvents)).optional(),
  })
  .meta({ id: 'WorkflowAlerts' });

export const alertSettingsSchema = z
  .object({
    chat_webhook_url: z.string().nullable(),
    email: z.array(z.string()).meta({
      description: 'A caller without `manage_workspace` sees only the domains',
    }),
    slack: slackSchema.nullable(),
    on: z.array(z.enum(alertEvents)),
    workflows: z.record(z.string(), workflowAlertsSchema),
    decide_by_link: z.boolean(),
    channels: z.array(alertChannelSchema).meta({ description: 'What counts for the workspace' }),
    etag,
  })
  .meta({ id: 'AlertSettings' });

export const alertTestSchema = z
  .object({
    channels: z.array(channel).meta({ description: 'The channels that the test was queued for' }),
  })
  .meta({ id: 'AlertTest' });

export type AlertSettingsInput = z.infer<typeof alertSettingsInput>;
export type WorkflowAlerts = z.infer<typeof workflowAlertsSchema>;
export type AlertSettings = z.infer<typeof alertSettingsSchema>;
export type AlertTest = z.infer<typeof alertTestSchema>;
