import { z } from 'zod';
import { secretName } from '#shared/contract/secrets/secret.ts';
import { CONNECTIONS, SECRETS, type ValueReference } from '#shared/values/secrets.ts';

/** What a call authenticates with, and where it stands in the request. */
export const toolAuth = z
  .strictObject({
    secret: secretName.optional(),
    connection: secretName.optional().meta({
      description: 'A connection, whose access token is sent. Either this or `secret`',
      examples: ['CRM'],
    }),
    as: z
      .string()
      .max(210)
      .regex(
        /^(?:bearer|basic|header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}|query:[^\u0000-\u001f\u007f]{1,200})$/,
        "must be 'bearer', 'basic', 'header:<name>' or 'query:<name>'",
      )
      .meta({
        description:
          'Where its value stands: `bearer`; `basic`, with `user:password` as the value; `header:X-Api-Key`; or `query:key`',
        examples: ['bearer', 'header:X-Api-Key'],
      })
      .default('bearer'),
  })
  .refine(({ secret, connection }) => (secret === undefined) !== (connection === undefined), {
    path: ['secret'],
    message: 'or connection is required, and not both',
  })
  .meta({ id: 'ToolAuth', examples: [{ secret: 'CRM_API_KEY', as: 'bearer' }] });
export type ToolAuth = z.infer<typeof toolAuth>;

/** The secret or connection that a tool authenticates with. */
export const referenceOf = ({ secret, connection }: ToolAuth): ValueReference =>
  connection === undefined
    ? { source: SECRETS, name: secret ?? '' }
    : { source: CONNECTIONS, name: connection };
