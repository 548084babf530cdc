import { z } from 'zod';
import { capabilities, type Capability, roles } from '#shared/people/capabilities.ts';
import { auditEntrySchema } from '#shared/contract/audit/audit.ts';
import { dollars, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

export const memberStatuses = ['active', 'invited', 'pending'] as const;
export type MemberStatus = (typeof memberStatuses)[number];

export const roleSchema = z.enum(roles);

/**
 * An email address from a caller. Compared case-insensitively, stored unchanged. ASCII only: for other characters,
 * systems differ in their rules for letter case.
 */
/**
 * A dot-atom and a host name whose last label starts with a letter, so that `.a@b`, `a..b@c` and `a@0` are refused.
 * Without lookaheads, which many client generators cannot read.
 */
const EMAIL =
  /^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

export const emailInput = z
  .email({ pattern: EMAIL, error: 'must be an email address' })
  .max(254)
  .meta({ examples: ['ada@example.com'] });

export const memberName = z.string().trim().min(1).max(200);

export const memberSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    role: roleSchema,
    status: z.enum(memberStatuses),
    is_owner: z
      .boolean()
      .meta({ description: 'The actor of requests without credentials, if any' }),
    invite_code: z
      .string()
      .nullable()
      .meta({
        description:
          'Only while invited and not expired, and only shown to members who can grant its permissions. Null as well where the ' +
          'service has no `ENCRYPTION_KEY`: then only the response that created the code has it.',
      }),
    invite_expires_at: timestamp.nullable().meta({
      description: 'When an invitation expires; it may be in the past',
    }),
    created_at: timestamp,
    etag,
  })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof memberSchema>;

const perCapability = <T extends z.ZodType>(value: T) =>
  z.object(
    Object.fromEntries(Object.keys(capabilities).map((name) => [name, value])) as Record<
      Capability,
      T
    >,
  );

/** Capability → whether the member has it. */
export const heldCapabilities = perCapability(z.boolean()).meta({ id: 'HeldCapabilities' });

const capabilitySetting = z
  .object({
    default: z.boolean().meta({ description: "The default of the member's role" }),
    override: z.boolean().nullable(),
    effective: z.boolean().meta({ description: 'The override if there is one, else the default' }),
  })
  .meta({ id: 'CapabilitySetting' });

/** Capability → default, override and effective value. */
const capabilitySettings = perCapability(capabilitySetting).meta({
  id: 'CapabilitySettings',
});

export const memberDetailSchema = memberSchema
  .extend({
    capabilities: capabilitySettings,
    api_key_count: z.int().meta({ description: 'Keys of the member that are not revoked' }),
  })
  .meta({ id: 'MemberDetail' });
export type MemberDetail = z.infer<typeof memberDetailSchema>;

export const inviteInput = z
  .strictObject({ name: memberName, email: emailInput, role: roleSchema })
  .meta({ examples: [{ name: 'Grace', email: 'grace@example.com', role: 'editor' }] });
export type InviteInput = z.infer<typeof inviteInput>;

const keepKeys = z
  .boolean()
  .default(false)
  .meta({
    description:
      'Keep keys linked to the member whose makers lack the gained permissions. Without it they are revoked, ' +
      'since the maker of a key knows its secret.',
  });

export const roleChange = z
  .strictObject({ role: roleSchema, keep_keys: keepKeys })
  .meta({ examples: [{ role: 'editor' }] });

const override = z
  .boolean()
  .nullable()
  .optional()
  .meta({ description: 'Null clears it: the default of the role applies' });

export const permissionsChange = z
  .strictObject({
    overrides: z
      .strictObject(perCapability(override).shape)
      .meta({ id: 'CapabilityOverrides', description: 'Absent ones do not change' }),
    keep_keys: keepKeys,
  })
  .meta({ examples: [{ overrides: { run_workflows: false, approve_gates: null } }] });
export type RoleChange = z.infer<typeof roleChange>;
export type PermissionsChange = z.infer<typeof permissionsChange>;
export type OverridesChange = PermissionsChange['overrides'];

export const memberStatsSchema = z
  .object({
    member_id: z.string(),
    runs_triggered: z.int(),
    approvals: z.int(),
    rejections: z.int(),
    workflows_created: z.int(),
    total_cost_usd: dollars.meta({ description: 'For the runs that the member triggered' }),
    activity: z
      .array(z.object({ date: z.string(), count: z.int() }))
      .meta({ description: 'Audited actions per UTC day, the last 30, oldest first' }),
    recent_actions: z.array(auditEntrySchema).meta({ description: 'The 15 newest, newest first' }),
  })
  .meta({ id: 'MemberStats' });
export type MemberStats = z.infer<typeof memberStatsSchema>;
