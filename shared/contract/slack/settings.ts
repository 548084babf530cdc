import { z } from 'zod';
import { secretName } from '#shared/contract/secrets/secret.ts';

/** Replaces the signing secret in answers. */
export const SIGNING_SECRET_MASK = '***';

/** The scopes that a sign-in needs: to send messages, and to find the member of the person who clicks. */
export const SLACK_SCOPES = ['chat:write', 'users:read', 'users:read.email'] as const;

/** Where Slack sends what people click, below the address of the service. */
export const SLACK_INTERACTIONS_PATH = '/api/slack/interactions';

const channel = z
  .string()
  .regex(/^[CG][A-Z0-9]{2,30}$/, 'must be the id of a channel, such as C0123456789')
  .meta({ description: 'The id of a channel, at the end of “View channel details” in Slack' });

const connection = secretName.meta({
  description:
    'The name of a connection with the preset `slack` and the owner `workspace`, that is signed in',
});

export const slackInput = z
  .strictObject({
    connection,
    channel,
    signing_secret: z
      .string()
      .regex(/^(?:[A-Za-z0-9]{16,128}|\*{3})$/, 'must be the signing secret of the Slack app')
      .meta({
        description: `Of the Slack app. Stored sealed, and shown as \`${SIGNING_SECRET_MASK}\`; send that back to keep it`,
        format: 'password',
      }),
  })
  .meta({ id: 'SlackInput' });

export const workflowSlackInput = z.strictObject({ channel });

export const slackSchema = z
  .object({
    connection: z.string(),
    channel: z.string(),
    signing_secret: z.string().meta({ description: `Always \`${SIGNING_SECRET_MASK}\`` }),
  })
  .meta({ id: 'SlackSettings' });

export type SlackInput = z.infer<typeof slackInput>;
