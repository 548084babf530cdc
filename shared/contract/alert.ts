import { z } from 'zod';
import { alertChannels, alertEvents } from '../alerts.ts';

const channel = z.enum(alertChannels);

/** Neither addresses nor keys: those are secrets of whoever runs the service. */
const alertChannelSchema = z
  .object({
    channel,
    configured: z.boolean(),
    events: z
      .array(z.enum(alertEvents))
      .meta({ description: 'What it tells of once it is configured: runs that failed or paused' }),
    hint: z.string().meta({ description: 'The settings of the service that configure it' }),
  })
  .meta({ id: 'AlertChannel' });

export const alertSettingsSchema = z
  .object({ channels: z.array(alertChannelSchema) })
  .meta({ id: 'AlertSettings' });

export const alertTestSchema = z
  .object({
    channels: z.array(channel).meta({ description: 'Those over which a test is on its way' }),
  })
  .meta({ id: 'AlertTest' });

export type AlertSettings = z.infer<typeof alertSettingsSchema>;
export type AlertTest = z.infer<typeof alertTestSchema>;
