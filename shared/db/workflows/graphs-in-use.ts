import { z } from 'zod';
import { type Actor, requireCapability } from '../../actor.ts';
import { type WorkflowStatus, workflowStatuses } from '../../contract/workflow.ts';
import { notFound } from '../../errors.ts';
import { offeredNamesOf, toolNamesOf } from '../../graph/node-tools.ts';
import { calledAs } from '../../tools.ts';
import { sql, type Tx } from '../pool.ts';
import { storedJson } from '../stored-json.ts';

/**
 * A graph is in use where it is published, or where a webhook or a schedule runs it. A change of such a graph takes
 * effect immediately, without another action.
 */

interface WorkflowInUse {
  id: string;
  status: WorkflowStatus;
}

/**
 * Requires the permissions to change these workflows' graphs, or anything their graphs call. Throws AppError
 * `forbidden`.
 */
export async function requireToReplaceGraphs(
  tx: Tx,
  actor: Actor,
  workflows: readonly WorkflowInUse[],
): Promise<void> {
  if (workflows.some(({ status }) => status === 'published')) {
    requireCapability(actor, 'publish_workflows');
  }
  const ids = sql.array(
    workflows.map(({ id }) => id),
    'text',
  );
  const runByThemselves = await tx.exists(sql.prepared('graphs_run_by_themselves', z.object({}))`
    SELECT FROM workflow_webhooks
    WHERE workflow_id = ANY (${ids}) AND workspace_id = ${actor.workspaceId} AND secret IS NOT NULL
    UNION ALL
    SELECT FROM schedules WHERE workflow_id = ANY (${ids}) AND workspace_id = ${actor.workspaceId} AND enabled
  `);
  if (runByThemselves) requireCapability(actor, 'run_workflows');
}

const callerRow = z.object({
  id: z.string(),
  status: z.enum(workflowStatuses),
  graph: z.looseObject({ nodes: z.array(storedJson()) }),
});

/**
 * The same for a change of the custom tool with this name, which changes the behavior of the graphs that call it. A
 * change of `texts` alone, its label or description, only matters to agents that offer it, since their models read
 * these. The caller must have locked the workspace's row, see `keepTools`. Throws AppError `forbidden`.
 */
export async function requireToReplaceTool(
  tx: Tx,
  actor: Actor,
  name: string,
  changed: 'all' | 'texts' = 'all',
): Promise<void> {
  const namesOf = changed === 'texts' ? offeredNamesOf : toolNamesOf;
  const called = calledAs(name);
  // The text is searched first, since few graphs contain it. Names need no escapes in JSON.
  const naming = await tx.any(sql.prepared('graphs_naming_tool', callerRow)`
    SELECT w.id, w.status, v.graph
    FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    WHERE w.workspace_id = ${actor.workspaceId} AND strpos(v.graph::text, ${JSON.stringify(called)}) > 0
  `);
  const calling = naming.filter(({ graph }) =>
    graph.nodes.some((node) => namesOf(node).includes(called)),
  );
  if (calling.length > 0) await requireToReplaceGraphs(tx, actor, calling);
}

/**
 * Locks the workspace's custom tools until the transaction ends, before a graph comes into use: waits for a change in
 * progress, and a later change sees the graph in use. Call it before locking the workflow's row, since a tool change
 * locks the workspace's row first. Throws AppError `not_found`.
 */
export async function keepTools(tx: Tx, workspaceId: string): Promise<void> {
  const found = await tx.maybeOne(sql.prepared('tools_keep', z.object({ id: z.string() }))`
    SELECT id FROM workspaces WHERE id = ${workspaceId} FOR SHARE
  `);
  if (found === null) throw notFound('Workspace');
}
