import { z } from 'zod';
import type { StoredLimits, WorkflowLimits } from '#shared/contract/limits/limits.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { otherLimits, requireToChange } from '#shared/db/workflows/graphs-in-use.ts';
import { lockName } from '#shared/db/waits/awaited-events.ts';
import { auditWorkflow, type WorkflowScope } from '#shared/db/workflows/workflows.ts';
import { notFound } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import { pathsIn } from '#shared/graph/waits/equality.ts';
import { type Actor, requireCapability } from '#shared/people/actor.ts';

const limitsRow = z.object({ settings: storedJson<StoredLimits>().nullable() });

const NO_LIMITS: StoredLimits = {
  concurrency: null,
  rate: null,
  debounce: null,
  priority: null,
  cancel_on: [],
};

const hasLimits = ({ concurrency, rate, debounce, cancel_on }: StoredLimits): boolean =>
  [concurrency, rate, debounce].some((limit) => limit !== null) || cancel_on.length > 0;

/** Throws AppError `not_found` for the workflow. */
export async function readLimits(
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
): Promise<StoredLimits> {
  const row = await db.maybeOne(statement(limitsRow)`
    SELECT l.settings FROM workflows w LEFT JOIN workflow_limits l ON l.workflow_id = w.id
    WHERE w.id = ${workflowId} AND w.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Workflow');
  return { ...NO_LIMITS, ...row.settings };
}

const listedRow = z.object({ workflow_id: z.string(), settings: storedJson<StoredLimits>() });

/** The limits of these workflows, also of those that have none. */
export async function listLimits(
  db: Db,
  { workspaceId, workflowIds }: { workspaceId: string; workflowIds: readonly string[] },
): Promise<Map<string, StoredLimits>> {
  const rows = await db.any(statement(listedRow)`
    SELECT workflow_id, settings FROM workflow_limits
    WHERE workspace_id = ${workspaceId} AND workflow_id = ANY(${sql.array([...workflowIds], 'text')})
  `);
  const stored = new Map(rows.map((row) => [row.workflow_id, row.settings]));
  return new Map(workflowIds.map((id) => [id, { ...NO_LIMITS, ...stored.get(id) }]));
}

const lockedRow = z.object({ name: z.string() });

/**
 * Replaces the limits; the same ones again change nothing. Runs in flight and in queues keep their key. Throws AppError
 * `not_found`, and `forbidden` if the actor cannot change a workflow that is in use, or cannot cancel runs and gives other
 * events that do.
 */
export async function replaceLimits(
  db: Pool,
  actor: Actor,
  workflowId: string,
  settings: StoredLimits,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    // A full lock: it waits for admissions in progress, and later ones find the new limits.
    const workflow = await tx.maybeOne(statement(lockedRow)`
      SELECT name FROM workflows WHERE id = ${workflowId} AND workspace_id = ${workspaceId} FOR UPDATE
    `);
    if (workflow === null) throw notFound('Workflow');
    const before = await readLimits(tx, { workspaceId, workflowId });
    if (canonicalJson({ ...before }) === canonicalJson({ ...settings })) return;
    await requireToChange(tx, actor, otherLimits({ id: workflowId, name: workflow.name }));
    await storeLimits(tx, actor, workflowId, { before, settings });
  });
}

/**
 * Stores the limits of a locked workflow, or of one that the transaction has created. Throws AppError `forbidden` if the
 * actor cannot cancel runs and gives other events that do.
 */
export async function storeLimits(
  tx: Tx,
  actor: Actor,
  workflowId: string,
  { before = NO_LIMITS, settings }: { before?: StoredLimits; settings: StoredLimits },
): Promise<void> {
  const cancels = canonicalJson(before.cancel_on) !== canonicalJson(settings.cancel_on);
  if (cancels && settings.cancel_on.length > 0) requireCapability(actor, 'cancel_resume');
  await nameEvents(tx, actor.workspaceId, settings);
  await tx.query(statement(z.object({}))`
    WITH stored AS (
      INSERT INTO workflow_limits AS l (workflow_id, workspace_id, revision, settings)
      VALUES (${workflowId}, ${actor.workspaceId}, 1, ${JSON.stringify(settings)}::json)
      ON CONFLICT (workflow_id) DO UPDATE SET revision = l.revision + 1, settings = excluded.settings
      RETURNING revision
    )
    UPDATE workflows SET limits_revision = CASE WHEN ${hasLimits(settings)} THEN stored.revision END
    FROM stored WHERE id = ${workflowId}
  `);
  await tx.query(statement(z.object({}))`
    UPDATE rate_queues SET due_at = now() WHERE workflow_id = ${workflowId}
  `);
  await auditWorkflow(tx, actor, workflowId, 'limits_update', {
    from: { ...before },
    to: { ...settings },
  });
}

/** Has the events of these names compared with the runs that they can cancel, before there is one. */
async function nameEvents(tx: Tx, workspaceId: string, { cancel_on }: StoredLimits): Promise<void> {
  // In the order in which others lock several names.
  for (const { event: name, match } of cancel_on.toSorted((a, b) => (a.event < b.event ? -1 : 1))) {
    const paths = match === null ? [] : pathsIn(match);
    for (const path of paths.length === 0 ? [undefined] : paths) {
      await lockName(tx, { workspaceId, name, path });
    }
  }
}

const failedRow = z.object({
  at: z.string(),
  event_id: z.string(),
  run_id: z.string(),
  reason: z.string(),
});

/** The latest event for which a match failed; null if there is none. */
export const lastFailedMatch = (
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
): Promise<WorkflowLimits['last_failed_match']> =>
  db.maybeOne(statement(failedRow)`
    SELECT created_at AS at, event_id, run_id, refusal AS reason FROM event_cancels
    WHERE workflow_id = ${workflowId} AND workspace_id = ${workspaceId} AND refusal IS NOT NULL
    ORDER BY created_at DESC LIMIT 1
  `);
