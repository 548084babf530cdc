import { z } from 'zod';
import { alertChannels, alertEvents } from './alerts.ts';

const channel = z.enum(alertChannels);

/** Without addresses and keys, which are secrets of the operator. */
const alertChannelSchema = z
  .object({
    channel,
    configured: z.boolean(),
    events: z.array(z.enum(alertEvents)).meta({
      description:
        'The events it sends once it is configured: runs that failed, paused or wait for long, budgets that reached 80% or 100% ' +
        'of their limit, and connections of the workspace that need a sign-in',
    }),
    hint: z.string().meta({ description: 'The service settings that configure it' }),
  })
  .meta({ id: 'AlertChannel' });

export const alertSettingsSchema = z
  .object({ channels: z.array(alertChannelSchema) })
  .meta({ id: 'AlertSettings' });

export const alertTestSchema = z
  .object({
    channels: z.array(channel).meta({ description: 'The channels that the test was queued for' }),
  })
  .meta({ id: 'AlertTest' });

export type AlertSettings = z.infer<typeof alertSettingsSchema>;
export type AlertTest = z.infer<typeof alertTestSchema>;
