import { z } from 'zod';
import { jsonObject, timestamp } from '#shared/contract/common.ts';
import { assigneeSchema, gateKinds, gateRuleFields, gateTitle } from './gate.ts';
import { recheckFields } from './recheck.ts';

/** A tool call that waits for approval. The digest binds a decision to exactly these arguments. */
const pendingToolCallSchema = z
  .object({
    tool: z.string(),
    turn: z.int().nullable().meta({ description: 'Null for the step of a node' }),
    arguments: jsonObject.nullable().meta({
      description: 'As they will be sent; null for a caller without the capability approve_gates',
    }),
    schema_digest: z.string(),
    tool_digest: z.string().nullable().meta({
      description:
        'Of what the call reaches: address, method, headers and revision of a custom tool, or the version of a workflow; null for a built-in tool',
    }),
    digest: z.string(),
  })
  .meta({ id: 'PendingToolCall' });

/** An open gate of a run. */
export const pendingGateSchema = z
  .object({
    kind: z.enum(gateKinds),
    node_id: z.string(),
    step_key: z.string(),
    label: z.string(),
    title: gateTitle,
    prompt: z.string(),
    since: timestamp,
    ...gateRuleFields,
    ...recheckFields,
    assignee: assigneeSchema.optional().meta({
      description: 'The member who is expected to decide; others who can decide it still can',
    }),
    tool_call: pendingToolCallSchema.optional().meta({ description: 'For kind `tool_call`' }),
  })
  .meta({ id: 'PendingGate' });

export type PendingGate = z.infer<typeof pendingGateSchema>;
