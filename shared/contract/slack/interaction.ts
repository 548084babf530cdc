import { z } from 'zod';

/** The parts of what Slack sends that are read. Everything else is ignored. */
const id = z.string().min(1).max(100);
const person = z.object({ id, team_id: id.nullish() });
const team = z.object({ id });

const clickSchema = z.object({
  type: z.literal('block_actions'),
  team,
  user: person,
  trigger_id: z.string().max(500).nullish(),
  container: z.object({ message_ts: id.nullish(), channel_id: id.nullish() }).nullish(),
  actions: z
    .array(z.object({ action_id: z.string().max(255), value: z.string().max(2_000).nullish() }))
    .min(1)
    .max(25),
});

const enteredSchema = z.object({
  value: z.string().nullish(),
  selected_date: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
});

const submissionSchema = z.object({
  type: z.literal('view_submission'),
  team,
  user: person,
  view: z.object({
    id,
    callback_id: z.string().max(255),
    private_metadata: z.string().max(3_000),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), enteredSchema)) }),
  }),
});

/** A click on a button of a message, or a modal that was submitted. */
export const interactionSchema = z.discriminatedUnion('type', [clickSchema, submissionSchema]);

/** The team of any interaction. */
export const interactionTeam = z.object({ team });

/** What a button carries. */
export const buttonValue = z.strictObject({
  run: z.string().max(100),
  step: z.string().max(1_000),
  digest: z.string().max(200).nullable(),
});

/** What a modal carries. */
export const modalTarget = z.strictObject({
  message: z.string().max(100),
  approves: z.boolean(),
  digest: z.string().max(200).nullable(),
});

/** A user as `users.info` describes them. */
export const slackUserSchema = z.object({
  id: z.string(),
  team_id: z.string().nullish(),
  deleted: z.boolean().nullish(),
  is_bot: z.boolean().nullish(),
  is_app_user: z.boolean().nullish(),
  is_workflow_bot: z.boolean().nullish(),
  is_restricted: z.boolean().nullish(),
  is_ultra_restricted: z.boolean().nullish(),
  is_stranger: z.boolean().nullish(),
  is_invited_user: z.boolean().nullish(),
  is_email_confirmed: z.boolean().nullish(),
  name: z.string().nullish(),
  real_name: z.string().nullish(),
  profile: z.object({ email: z.string().nullish() }).nullish(),
});

export type SlackClick = z.infer<typeof clickSchema>;
export type SlackSubmission = z.infer<typeof submissionSchema>;
export type SlackInteraction = z.infer<typeof interactionSchema>;
export type SlackUser = z.infer<typeof slackUserSchema>;
