import { z } from 'zod';
import { jsonObject, MAX_PAGE, timeInput, timestamp, wholeNumber } from './common.ts';

export const auditEntrySchema = z
  .object({
    id: z.string(),
    action: z.string().meta({ examples: ['plan_change'] }),
    actor_id: z.string().nullable().meta({ description: 'The member who acted, if one did' }),
    actor_name: z.string().nullable(),
    target_type: z.string().meta({ examples: ['workspace'] }),
    target_id: z.string(),
    target_name: z.string().nullable().meta({
      description:
        "Its current name; for a run, its workflow's name. Null: it has no name, or was deleted",
    }),
    details: jsonObject,
    created_at: timestamp,
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** Any text: a value that no entry has matches none. */
const name = z.string().min(1).max(200).optional();

export const auditQuery = z.strictObject({
  action: name.meta({ description: 'What was done', examples: ['plan_change'] }),
  actor_id: name.meta({ description: 'The member who did it' }),
  target_type: name.meta({ description: 'The type of the target', examples: ['run'] }),
  target_id: name,
  since: timeInput.optional().meta({ description: 'Written at or after' }),
  until: timeInput.optional().meta({ description: 'Written before' }),
  limit: wholeNumber(1, MAX_PAGE).prefault('50').meta({ description: 'Entries per page' }),
  offset: wholeNumber(0, 1_000_000_000)
    .prefault('0')
    .meta({ description: 'How many of the newest entries to skip' }),
});

export type AuditFilter = z.infer<typeof auditQuery>;

export const auditListSchema = z
  .object({
    logs: z.array(auditEntrySchema).meta({ description: 'Newest first' }),
    total: z.int().meta({ description: 'How many entries match the filters' }),
  })
  .meta({ id: 'AuditList' });

export const auditVerificationSchema = z
  .object({
    valid: z.boolean(),
    sealed: z.int().meta({ description: 'Entries that are part of the chain' }),
    unsealed: z.int().meta({ description: 'Entries that wait for their seal' }),
    head: z.object({ position: z.int(), hash: z.string() }).nullable().meta({
      description:
        'The newest seal. Store it elsewhere to verify later that no earlier entry was changed',
    }),
    first_problem: z
      .object({
        position: z
          .int()
          .nullable()
          .meta({ description: 'Null for an entry without a position in the chain' }),
        audit_id: z.string().optional(),
        problem: z.string(),
      })
      .optional(),
    tool_calls: z
      .object({
        decisions: z.int().meta({ description: 'Decisions that were compared with their gates' }),
        made: z
          .int()
          .meta({ description: 'Calls with approval that were compared with their decisions' }),
        problems: z
          .array(
            z
              .object({
                run_id: z.string(),
                step_key: z.string().meta({ examples: ['triage/1.1'] }),
                audit_id: z.string().optional().meta({ description: 'The entry of a decision' }),
                problem: z.string(),
              })
              .meta({ id: 'ToolCallProblem' }),
          )
          .meta({ description: 'At most 100' }),
      })
      .meta({ id: 'ToolCallVerification', description: 'Tool calls of agents that need approval' }),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof auditVerificationSchema>;
