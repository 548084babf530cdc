import { z } from 'zod';
import { secretName } from '#shared/contract/secrets/secret.ts';

/** What a call authenticates with, and where it stands in the request. */
export const toolAuth = z
  .strictObject({
    secret: secretName,
    as: z
      .string()
      .max(210)
      .regex(
        /^(?:bearer|basic|header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}|query:[^\p{Cc}]{1,200})$/u,
        "must be 'bearer', 'basic', 'header:<name>' or 'query:<name>'",
      )
      .meta({
        description:
          'Where its value stands: `bearer`; `basic`, with `user:password` as the value; `header:X-Api-Key`; or `query:key`',
        examples: ['bearer', 'header:X-Api-Key'],
      }),
  })
  .meta({ id: 'ToolAuth' });
export type ToolAuth = z.infer<typeof toolAuth>;
