import { z } from 'zod';
import {
  jsonObject,
  MAX_PAGE,
  timeInput,
  timestamp,
  wholeNumber,
} from '#shared/contract/common.ts';

/** Every action in the audit log, with its label. */
export const auditActions = {
  accept_invite: 'Invitation accepted',
  alert_test: 'Test alerts sent',
  alerts_update: 'Alerts changed',
  approve: 'Approved',
  approve_member: 'Member approved',
  assign: 'Gate assigned',
  authorize: 'Client authorized',
  authorization_revoke: 'Access of a client revoked',
  authorization_reuse: 'Access of a client ended: a used code or token was sent again',
  budget_override: 'Budget overridden',
  cancel: 'Run cancelled',
  create: 'Created',
  connect: 'Signed in to a connection',
  data_export: 'Data exported',
  data_ingest: 'Records sent',
  data_webhook_create: 'Endpoint added',
  data_webhook_delete: 'Endpoint deleted',
  data_webhook_ping: 'Test event sent',
  data_webhook_redeliver: 'Delivery sent again',
  data_webhook_redeliver_all: 'Failed deliveries sent again',
  data_webhook_rotate: 'Signing secret replaced',
  data_webhook_update: 'Endpoint changed',
  callback_receive: 'Callback received',
  decision_refused: 'Decision refused',
  reject_wait: 'Step failed that waited for a sign-in',
  delete: 'Deleted',
  discard_draft: 'Draft discarded',
  disconnect: 'Signed out of a connection',
  event_send: 'Event sent',
  experiment: 'Experiment started',
  experiment_cancel: 'Experiment cancelled',
  fork: 'Run forked',
  gate_timeout: 'Gate timed out',
  limits_update: 'Limits changed',
  invite: 'Member invited',
  invite_renew: 'Invitation renewed',
  owner_change: 'Owner changed',
  owner_restore: 'Owner restored',
  password_change: 'Password changed',
  password_set: 'Password set',
  permissions_change: 'Permissions changed',
  plan_change: 'Plan changed',
  policy_backtest: 'Policies tried on history',
  policy_backtest_cancel: 'Backtest cancelled',
  policy_update: 'Policies changed',
  price_update: 'Prices changed',
  publish: 'Published',
  publish_draft: 'Draft published',
  reject: 'Rejected',
  remove: 'Member removed',
  report: 'Source check reported',
  rerun: 'Run again',
  resume: 'Run resumed',
  retention_sweep: 'Old records removed',
  revoke: 'Key revoked',
  role_change: 'Role changed',
  run: 'Run started',
  save_draft: 'Draft saved',
  schedule_create: 'Schedule created',
  schedule_delete: 'Schedule deleted',
  schedule_run: 'Run started by a schedule',
  schedule_update: 'Schedule changed',
  signup: 'Membership requested',
  slack_confirm: 'Slack account confirmed',
  slack_remove: 'Slack account removed',
  test: 'Tool tested',
  trigger_create: 'Event trigger created',
  trigger_delete: 'Event trigger deleted',
  trigger_run: 'Run started by an event',
  trigger_update: 'Event trigger changed',
  update: 'Changed',
  webhook_config: 'Webhook settings changed',
  webhook_disable: 'Webhook disabled',
  webhook_enable: 'Webhook enabled',
  webhook_replay: 'Event replayed',
  webhook_replay_all: 'Events replayed',
  webhook_replay_cancel: 'Replay of events cancelled',
  webhook_rotate: 'Webhook URL replaced',
  webhook_run: 'Run started by a webhook',
  workflow_run: 'Run started by a workflow',
} as const satisfies Record<string, string>;
export type AuditAction = keyof typeof auditActions;

/** Every type of target, with its label. */
export const auditTargets = {
  api_key: 'API key',
  authorization: 'Access of a client',
  budget: 'Budget',
  connection: 'Connection',
  data_key: 'Data key',
  data_webhook: 'Webhook endpoint',
  event: 'Event',
  export: 'Export',
  feed: 'Feed',
  member: 'Member',
  run: 'Run',
  secret: 'Secret',
  source: 'Source',
  template: 'Template',
  tool: 'Custom tool',
  workflow: 'Workflow',
  workspace: 'Workspace',
} as const satisfies Record<string, string>;
export type AuditTarget = keyof typeof auditTargets;

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

/** Accepts any text: a value that no entry has matches none. */
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
      .meta({
        id: 'ToolCallVerification',
        description: 'Decisions at gates, and tool calls that need approval',
      }),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof auditVerificationSchema>;
