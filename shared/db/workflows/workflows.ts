import { z } from 'zod';
import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { Actor } from '#shared/people/actor.ts';
import { overrunModes } from '#shared/contract/money/budget.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import type { Template } from '#shared/contract/workflows/template.ts';
import {
  type Workflow,
  type WorkflowCreate,
  type WorkflowUpdate,
  workflowStatuses,
} from '#shared/contract/workflows/workflow.ts';
import { conflict, notFound } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { toDollars, toMicros } from '#shared/money/money.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import {
  anotherDescription,
  anotherName,
  anotherVersion,
  otherLimits,
  presence,
  requireToChange,
} from './graphs-in-use.ts';
import { insertVersion, nextVersion } from './version-content.ts';
import { lockBelow } from '#shared/db/children/below.ts';
import { requireTried } from '#shared/db/experiments/publishing.ts';
import { noticeDeletion } from '#shared/db/children/notices.ts';
import { cancelBelow } from '#shared/db/runs/ends.ts';
import { enqueue, type OutboxRow } from '#shared/db/runs/outbox.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { storedJson } from '#shared/db/stored-json.ts';

export interface WorkflowScope {
  workspaceId: string;
  workflowId: string;
}

const json = storedJson();
const graph = storedJson<Workflow['graph']>();
const schema = storedJson<JsonObject | null>();
const idRow = z.object({ id: z.string() });

const workflowRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(workflowStatuses),
  version: z.number(),
  checks: z.array(json),
  run_cap_micros: z.number().nullable(),
  overrun: z.enum(overrunModes),
  requires_experiment: z.boolean(),
  created_by: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  has_draft: z.boolean(),
  graph,
  input_schema: schema,
  total: z.number(),
  success: z.number(),
  failed: z.number(),
  paused: z.number(),
  running: z.number(),
  cost_micros: z.number(),
  active_ms: z.number(),
  last_run_at: z.string().nullable(),
});

const workflowColumns = sql.fragment`
  w.id, w.workspace_id, w.name, w.description, w.status, w.version, w.checks, w.run_cap_micros, w.overrun, w.requires_experiment,
  w.created_by,
  w.created_at, w.updated_at, v.graph, v.input_schema, s.*,
  EXISTS (SELECT FROM workflow_drafts d WHERE d.workflow_id = w.id AND d.workspace_id = w.workspace_id) AS has_draft
`;

// Cost and duration are summed over finished runs only, so that active runs do not lower the averages.
const runFigures = sql.fragment`
  count(*) AS total,
  count(*) FILTER (WHERE status = 'success') AS success,
  count(*) FILTER (WHERE status = 'failed') AS failed,
  count(*) FILTER (WHERE status = 'paused') AS paused,
  count(*) FILTER (WHERE status IN ('pending', 'running')) AS running,
  coalesce(sum(cost_micros) FILTER (WHERE finished_at IS NOT NULL), 0) AS cost_micros,
  coalesce(sum(active_ms) FILTER (WHERE finished_at IS NOT NULL), 0) AS active_ms,
  max(created_at) AS last_run_at
`;

/** The workspace's workflows, newest first. */
export async function listWorkflows(
  db: Db,
  workspaceId: string,
  page?: OffsetPage,
): Promise<Workflow[]> {
  const rows = await db.any(statement(workflowRow)`
    SELECT ${workflowColumns}
    FROM workflows w
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    CROSS JOIN LATERAL (
      SELECT ${runFigures} FROM runs r WHERE r.workflow_id = w.id AND r.workspace_id = w.workspace_id AND r.rehearsal IS NULL
    ) s
    WHERE w.workspace_id = ${workspaceId}
    ORDER BY w.created_at DESC, w.id DESC ${offsetClause(page)}
  `);
  return rows.map(toWorkflow);
}

/** Throws AppError `not_found`. */
export async function readWorkflow(db: Db, scope: WorkflowScope): Promise<Workflow> {
  const row = await db.maybeOne(statement(workflowRow)`
    SELECT ${workflowColumns}
    FROM workflows w
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    CROSS JOIN LATERAL (
      SELECT ${runFigures} FROM runs r WHERE r.workflow_id = w.id AND r.workspace_id = w.workspace_id AND r.rehearsal IS NULL
    ) s
    WHERE w.id = ${scope.workflowId} AND w.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Workflow');
  return toWorkflow(row);
}

/** Throws AppError `not_found` when the workspace has no such workflow. */
export async function requireWorkflow(db: Db, scope: WorkflowScope): Promise<void> {
  const found = await db.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM workflows WHERE id = ${scope.workflowId} AND workspace_id = ${scope.workspaceId}
  `);
  if (found === null) throw notFound('Workflow');
}

/** Like `requireWorkflow`; also locks it until the transaction ends. */
export async function keepWorkflow(tx: Tx, scope: WorkflowScope): Promise<void> {
  const found = await tx.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM workflows WHERE id = ${scope.workflowId} AND workspace_id = ${scope.workspaceId} FOR KEY SHARE
  `);
  if (found === null) throw notFound('Workflow');
}

/**
 * The id of the only workflow with exactly this name. Throws AppError `not_found`, and `conflict` when several have it.
 */
export async function findWorkflowId(
  db: Db,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<string> {
  const [id, another] = await db.anyFirst(statement(idRow)`
    SELECT id FROM workflows WHERE workspace_id = ${workspaceId} AND name = ${name} LIMIT 2
  `);
  if (id === undefined) throw notFound('Workflow');
  if (another !== undefined) {
    throw conflict(`Several workflows are named '${name}'; give the id of one`);
  }
  return id;
}

function toWorkflow(row: z.infer<typeof workflowRow>): Workflow {
  const finished = row.success + row.failed;
  const workflow = {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    description: row.description,
    status: row.status,
    version: row.version,
    graph: row.graph,
    input_schema: row.input_schema,
    checks: row.checks,
    run_cap_usd: row.run_cap_micros === null ? null : toDollars(row.run_cap_micros),
    overrun: row.overrun,
    requires_experiment: row.requires_experiment,
    stats: {
      total: row.total,
      success: row.success,
      failed: row.failed,
      paused: row.paused,
      running: row.running,
      success_rate: finished === 0 ? 0 : Math.round((row.success / finished) * 1000) / 10,
      avg_cost_usd: finished === 0 ? null : toDollars(Math.round(row.cost_micros / finished)),
      avg_duration_ms: finished === 0 ? null : Math.round(row.active_ms / finished),
      last_run_at: row.last_run_at,
    },
    created_by: row.created_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
    has_draft: row.has_draft,
  };
  // The version identifies the graph and the schema, which can be large. A draft has its own tag.
  return withEtag(workflow, ['stats', 'graph', 'input_schema', 'has_draft']);
}

/**
 * Returns the new workflow's id. Throws AppError `conflict` when there are too many workflows, and `forbidden` for a name by
 * which a graph in use calls a workflow.
 */
export const createWorkflow = (db: Pool, actor: Actor, body: WorkflowCreate): Promise<string> =>
  db.transaction((tx) => insertWorkflow(tx, actor, body));

/** Creates a workflow as above. `from` is the template that provides its checks. */
export async function insertWorkflow(
  tx: Tx,
  actor: Actor,
  body: WorkflowCreate,
  from?: Pick<Template, 'id' | 'checks'>,
): Promise<string> {
  const id = newId('workflow');
  const cap = body.run_cap_usd ?? null;
  const checks = JSON.stringify(from?.checks ?? []);
  await requireRoom(tx, actor.workspaceId, 'workflows');
  await requireToChange(tx, actor, presence({ id, name: body.name }));
  await tx.query(statement(z.object({}))`
    INSERT INTO workflows (id, workspace_id, name, description, checks, run_cap_micros, overrun, requires_experiment, created_by)
    VALUES (${id}, ${actor.workspaceId}, ${body.name}, ${body.description}, ${checks}::json,
            ${cap === null ? null : toMicros(cap)}, ${body.overrun ?? 'none'}, ${body.requires_experiment ?? false}, ${actor.id})
  `);
  const content = { graph: body.graph, inputSchema: body.input_schema ?? null };
  await insertVersion(tx, actor, { workflowId: id, version: 1, ...content });
  await recordAudit(tx, actor, {
    action: 'create',
    targetType: 'workflow',
    targetId: id,
    details: { name: body.name, ...(from === undefined ? {} : { template_id: from.id }) },
  });
  return id;
}

const lockedRow = z.object({
  name: z.string(),
  description: z.string(),
  status: z.enum(workflowStatuses),
  version: z.number(),
  run_cap_micros: z.number().nullable(),
  overrun: z.enum(overrunModes),
  requires_experiment: z.boolean(),
  checks: z.array(json),
});

/** The workflow, locked against other writers. Does not block triggers of runs. Throws AppError `not_found`. */
export async function lockWorkflow(
  tx: Tx,
  actor: Actor,
  workflowId: string,
): Promise<z.infer<typeof lockedRow>> {
  const row = await tx.maybeOne(statement(lockedRow)`
    SELECT name, description, status, version, run_cap_micros, overrun, requires_experiment, checks
    FROM workflows WHERE id = ${workflowId} AND workspace_id = ${actor.workspaceId}
    FOR NO KEY UPDATE
  `);
  if (row === null) throw notFound('Workflow');
  return row;
}

/**
 * Changes the given fields. A graph or an input schema that differs in more than its formatting becomes a new version;
 * runs keep the version they were triggered with. Concurrent edits are serialized. Throws AppError `not_found`, and
 * `forbidden` for a new version, name, cap or experiment requirement that the actor cannot bring into use.
 */
export async function updateWorkflow(
  db: Pool,
  actor: Actor,
  workflowId: string,
  body: WorkflowUpdate,
): Promise<void> {
  await db.transaction(async (tx) => {
    const versioned = body.graph !== undefined || body.input_schema !== undefined;
    await lockWorkspace(tx, actor.workspaceId);
    const before = await lockWorkflow(tx, actor, workflowId);
    const after = {
      name: body.name ?? before.name,
      description: body.description ?? before.description,
      run_cap_micros: newCap(before.run_cap_micros, body.run_cap_usd),
      overrun: body.overrun ?? before.overrun,
      requires_experiment: body.requires_experiment ?? before.requires_experiment,
    };
    const changed: Json[] = (
      ['name', 'description', 'run_cap_micros', 'overrun', 'requires_experiment'] as const
    )
      .filter((field) => after[field] !== before[field])
      .map((field) => (field === 'run_cap_micros' ? 'run_cap_usd' : field));
    const named = { id: workflowId, name: before.name };
    if (changed.includes('name')) await requireToChange(tx, actor, anotherName(named, after.name));
    if (changed.includes('description')) {
      await requireToChange(tx, actor, anotherDescription(named));
    }
    if (changed.some((field) => field !== 'name' && field !== 'description')) {
      await requireToChange(tx, actor, otherLimits(named));
    }
    let { version } = before;
    const next = versioned ? await nextVersion(tx, { workflowId, version }, body) : undefined;
    if (next !== undefined) {
      await requireToChange(tx, actor, anotherVersion(named));
      const required = before.requires_experiment && before.status === 'published';
      const { graph, inputSchema: input_schema } = next.content;
      await requireTried(tx, { workflowId, required }, { graph, input_schema });
      version += 1;
      changed.push(...next.changed);
      await insertVersion(tx, actor, { workflowId, version, ...next.content, note: body.note });
    }
    if (changed.length === 0) return;
    await tx.query(statement(z.object({}))`
      UPDATE workflows
      SET name = ${after.name}, description = ${after.description}, run_cap_micros = ${after.run_cap_micros},
          overrun = ${after.overrun}, requires_experiment = ${after.requires_experiment}, version = ${version}, updated_at = now()
      WHERE id = ${workflowId} AND workspace_id = ${actor.workspaceId}
    `);
    const said = next !== undefined && body.note !== undefined && { note: body.note };
    await auditWorkflow(tx, actor, workflowId, 'update', { changed, version, ...said });
  });
}

function newCap(before: number | null, wanted: number | null | undefined): number | null {
  if (wanted === undefined) return before;
  return wanted === null ? null : toMicros(wanted);
}

export const auditWorkflow = async (
  tx: Tx,
  actor: Actor,
  workflowId: string,
  action: AuditAction,
  details: JsonObject,
): Promise<void> =>
  recordAudit(tx, actor, { action, targetType: 'workflow', targetId: workflowId, details });

/** Replaces the checks that score successful runs. */
export async function replaceChecks(
  db: Pool,
  actor: Actor,
  workflowId: string,
  checks: readonly EvaluationCheck[],
): Promise<void> {
  const text = JSON.stringify(checks);
  await db.transaction(async (tx) => {
    const before = await lockWorkflow(tx, actor, workflowId);
    if (canonicalJson(before.checks) === canonicalJson(checks as unknown as Json)) return;
    await tx.query(statement(z.object({}))`
      UPDATE workflows SET checks = ${text}::json, updated_at = now()
      WHERE id = ${workflowId} AND workspace_id = ${actor.workspaceId}
    `);
    await auditWorkflow(tx, actor, workflowId, 'update', {
      changed: ['checks'],
      checks: checks.length,
    });
  });
}

const deletableRow = z.object({ name: z.string() });

/**
 * Deletes a workflow with its versions, runs and steps. Executions of active runs are ended through the outbox, whose
 * rows are returned: they outlive the runs. Throws AppError `not_found`, and `forbidden` if a graph in use calls it.
 */
export async function deleteWorkflow(
  db: Pool,
  actor: Actor,
  workflowId: string,
): Promise<OutboxRow[]> {
  return db.transaction(async (tx) => {
    await lockWorkspace(tx, actor.workspaceId);
    // A full lock: it waits for a trigger in progress, and a later trigger does not find the workflow.
    const workflow = await tx.maybeOne(statement(deletableRow)`
      SELECT name FROM workflows
      WHERE id = ${workflowId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (workflow === null) throw notFound('Workflow');
    await requireToChange(tx, actor, presence({ id: workflowId, name: workflow.name }));
    const live = await tx.anyFirst(statement(idRow)`
      SELECT id FROM runs
      WHERE workflow_id = ${workflowId} AND workspace_id = ${actor.workspaceId}
        AND status IN ('pending', 'running', 'paused')
      ORDER BY id FOR UPDATE
    `);
    const below = await lockBelow(tx, live);
    const cancels: OutboxRow[] = [];
    for (const runId of live) {
      cancels.push(await enqueue(tx, { runId, kind: 'cancel', payload: { deleted: true } }));
    }
    await noticeDeletion(tx, live);
    await cancelBelow(tx, below);
    // Counts their cost so far as spent, and releases their holds.
    await tx.query(statement(z.object({}))`
      SELECT FROM close_holds_1(${sql.array(live, 'text')}, 'settled')
    `);
    await tx.query(statement(z.object({}))`
      DELETE FROM workflows WHERE id = ${workflowId} AND workspace_id = ${actor.workspaceId}
    `);
    await auditWorkflow(tx, actor, workflowId, 'delete', {
      name: workflow.name,
      cancelled_runs: live.length,
    });
    return cancels;
  });
}
