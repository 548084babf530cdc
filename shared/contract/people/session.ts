import { z } from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '#shared/people/password-length.ts';
import { timestamp } from '#shared/contract/common.ts';
import { emailInput, heldCapabilities, memberName, memberSchema, roleSchema } from './member.ts';

const newPassword = z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH);
/** A password to compare, not to store: one that is too short for a new password is simply wrong. */
const givenPassword = z.string().min(1).max(MAX_PASSWORD_LENGTH);

export const loginInput = z
  .strictObject({ email: z.string().min(1).max(254), password: givenPassword })
  .meta({ examples: [{ email: 'ada@example.com', password: 'correct horse battery' }] });

export const signupInput = z
  .strictObject({ name: memberName, email: emailInput, password: newPassword })
  .meta({
    examples: [{ name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }],
  });
export type SignupInput = z.infer<typeof signupInput>;

export const acceptInviteInput = z
  .strictObject({
    invite_code: z.string().min(1).max(200),
    password: newPassword,
    name: memberName.optional(),
  })
  .meta({ examples: [{ invite_code: 'inv_...', password: 'correct horse battery' }] });
export type AcceptInviteInput = z.infer<typeof acceptInviteInput>;

export const passwordChange = z
  .strictObject({ current_password: givenPassword, new_password: newPassword })
  .meta({
    examples: [{ current_password: 'correct horse battery', new_password: 'staple of horses' }],
  });

export const sessionSchema = z
  .object({
    token: z.string().meta({ description: 'For `Authorization: Bearer`' }),
    expires_at: timestamp,
    member: memberSchema,
  })
  .meta({ id: 'Session' });

export const identitySchema = z
  .object({
    id: z.string().nullable().meta({ description: 'The member; null for an unlinked key' }),
    name: z.string().nullable(),
    email: z.string().nullable(),
    role: roleSchema,
    workspace_id: z.string(),
    credential: z.enum(['none', 'session', 'api_key', 'authorization']),
    capabilities: heldCapabilities,
  })
  .meta({ id: 'Identity' });
export type Identity = z.infer<typeof identitySchema>;
