import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';

/** `limit`: a free call of a tool or model. `connection`: a sign-in. */
export const waitedFor = ['time', 'event', 'callback', 'limit', 'connection'] as const;

/** Why an account has no token: its member has never signed in, or has to sign in again. */
const missingSignIns = ['not_signed_in', 'needs_sign_in'] as const;
export type MissingSignIn = (typeof missingSignIns)[number];

/** What a step of an open run waits for. */
export const waitingSchema = z
  .object({
    node_id: z.string(),
    step_key: z.string(),
    label: z.string(),
    for: z.enum(waitedFor),
    events: z.array(z.string()).meta({ description: 'The names of the events' }),
    since: timestamp,
    until: timestamp.nullable().meta({ description: 'The time, or the deadline' }),
    limit: z
      .object({
        name: z.string().meta({ description: 'The tool or the model' }),
        key: z
          .string()
          .nullable()
          .meta({ description: 'The value of the `key` of the limit, redacted by the policies' }),
        concurrency: z.int().nullable(),
        per_minute: z.int().nullable(),
      })
      .nullable()
      .meta({ description: 'For `limit`: the limit of the policies that has no free call' }),
    connection: z
      .object({
        id: z.string(),
        name: z.string(),
        reason: z.enum(missingSignIns),
        member_id: z.string().meta({ description: 'The member whose account the step uses' }),
        member_name: z.string(),
        page: z.string().meta({
          description: 'Where this member signs in: a path of the console',
          examples: ['/connections?connection=con_1'],
        }),
      })
      .nullable()
      .meta({
        description:
          'For `connection`: the account without a token. Only its member can sign in, and the step then continues. Until then, a member with `approve_gates` can reject the step',
      }),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.infer<typeof waitingSchema>;
