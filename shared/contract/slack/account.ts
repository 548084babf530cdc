import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';

/** For how long a member can confirm the account that wanted to decide. */
export const ASKED_HOURS = 24;

const id = z.string().regex(/^[A-Z0-9]{1,100}$/, 'must be an id of Slack, such as U0123456789');

const account = {
  team_id: z.string().meta({ description: 'The team of Slack' }),
  user_id: z.string().meta({ description: 'The user in that team' }),
  name: z.string().meta({ description: "The user's name in Slack at that moment" }),
};

export const slackAccountInput = z
  .strictObject({ team_id: id, user_id: id })
  .meta({ examples: [{ team_id: 'T0DEMO', user_id: 'U0ANN' }] });

export const slackAccountSchema = z
  .object({
    confirmed: z
      .object({ ...account, confirmed_at: timestamp })
      .nullable()
      .meta({ description: 'The account that decides as you in Slack; null if there is none' }),
    asked: z
      .object({ ...account, asked_at: timestamp })
      .nullable()
      .meta({
        description: `Another account that has your email, and wanted to decide as you in the last ${ASKED_HOURS} hours`,
      }),
  })
  .meta({ id: 'OwnSlackAccount' });

export type SlackAccountInput = z.infer<typeof slackAccountInput>;
export type OwnSlackAccount = z.infer<typeof slackAccountSchema>;
