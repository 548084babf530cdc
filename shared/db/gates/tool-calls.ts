import { z } from 'zod';
import { type AgentNode, graphNodeSchema } from '#shared/contract/workflows/graph.ts';
import { jsonObject } from '#shared/contract/common.ts';
import { gateStatuses } from '#shared/contract/gates/gate.ts';
import { type ApprovedNode, canAsk } from '#shared/graph/node-approval.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const openCall = z.object({
  step_key: z.string(),
  tool: z.string(),
  arguments: jsonObject,
  schema_digest: z.string(),
  tool_digest: z.string().nullable(),
  required: z.number(),
  approved: z.number(),
  node: graphNodeSchema,
});

/** A tool call that is waiting for a decision, with its node in the run's version. */
export interface OpenToolCall {
  stepKey: string;
  tool: string;
  arguments: JsonObject;
  schemaDigest: string;
  /** Null for a built-in tool, and for calls recorded by earlier releases. */
  toolDigest: string | null;
  node: AgentNode | ApprovedNode;
  /** How many members must approve it, and how many have. */
  required: number;
  approved: number;
}

/** The open call with this digest; undefined when there is none. */
export async function findOpenCall(
  db: Db,
  scope: { workspaceId: string; runId: string; digest: string },
): Promise<OpenToolCall | undefined> {
  const row = await db.maybeOne(statement(openCall)`
    SELECT g.step_key, g.tool, g.arguments, g.schema_digest, g.tool_digest, n.node,
           coalesce((g.settings ->> 'required')::int, 1) AS required, coalesce(json_array_length(g.decisions), 0) AS approved
    FROM gates g JOIN runs r ON r.id = g.run_id
    JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    CROSS JOIN LATERAL (
      SELECT node FROM json_array_elements(coalesce(r.graph, v.graph) -> 'nodes') AS node
      WHERE node ->> 'id' = g.node_id LIMIT 1) AS n
    WHERE g.run_id = ${scope.runId} AND r.workspace_id = ${scope.workspaceId} AND g.digest = ${scope.digest}
      AND g.status = 'open' AND g.kind = 'tool_call'
  `);
  if (row === null) return undefined;
  const { node } = row;
  if (node.kind !== 'agent' && !canAsk(node)) return undefined;
  return {
    stepKey: row.step_key,
    tool: row.tool,
    arguments: row.arguments,
    schemaDigest: row.schema_digest,
    toolDigest: row.tool_digest,
    node,
    required: row.required,
    approved: row.approved,
  };
}

const ownApproval = z.object({
  round: z.number(),
  status: z.enum(gateStatuses),
  digest: z.string(),
  decided_digest: z.string().nullable(),
  decided_arguments: storedJson<JsonObject | null>(),
  approver: z.string().nullable(),
});

/**
 * The last request for approval of a step of a tool or a workflow, in its own run. `approver`: the member who lends their
 * account to the step; null if none does. A decision that a fork has from its source is not one of its own run.
 */
export async function findOwnApproval(
  db: Db,
  { runId, stepKey }: { runId: string; stepKey: string },
): Promise<z.infer<typeof ownApproval> | undefined> {
  const row = await db.maybeOne(statement(ownApproval)`
    SELECT round, status, digest, decided_digest, decided_arguments,
           CASE WHEN status = 'approved' AND decided_by_kind = 'member' AND settings ->> 'act_as' = 'approver'
                     AND settings ->> 'signed_in' = 'true' THEN decided_by END AS approver
    FROM gates
    WHERE run_id = ${runId} AND step_key = ${stepKey} AND kind = 'tool_call' AND turn IS NULL AND reused_from IS NULL
    ORDER BY round DESC LIMIT 1
  `);
  return row ?? undefined;
}
