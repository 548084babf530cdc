import { z } from 'zod';

/** `invoice.paid`: words of letters, digits, `_` and `-`, with dots between them. */
const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i;

/** The name of an event. */
export const eventName = z
  .string()
  .min(1)
  .max(100)
  .regex(
    NAME,
    "has words of letters, digits, '_' and '-' with dots between them, as in invoice.paid",
  )
  .meta({ description: 'Such as `invoice.paid`', example: 'invoice.paid' });
