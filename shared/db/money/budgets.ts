import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import {
  type Budget,
  type BudgetInput,
  budgetScopes,
  type BudgetStatus,
  type BudgetUpdate,
  budgetWindows,
  overrunModes,
} from '#shared/contract/money/budget.ts';
import type { DryRunBudget } from '#shared/contract/workflows/dry-run.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { toDollars, toMicros } from '#shared/money/money.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { lockBudgets } from './holds.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { keepWorkflow } from '#shared/db/workflows/workflows.ts';
import { requireRoom } from '#shared/db/people/limits.ts';

const budgetRow = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.enum(budgetScopes),
  workflow_id: z.string().nullable(),
  window: z.enum(budgetWindows),
  limit_micros: z.number(),
  estimate_micros: z.number().nullable(),
  overrun: z.enum(overrunModes),
  alerts: z.boolean(),
  created_at: z.string(),
  spent: z.number(),
  reserved: z.number(),
  window_start: z.string().nullable(),
  window_end: z.string().nullable(),
  elapsed: z.number().nullable(),
});

/** The bounds of the current window of budgets `b` with `currentWindow`; null where there is no window. */
export const windowBounds = sql.fragment`
  CASE WHEN b."window" <> 'total' THEN w.start END AS window_start,
  CASE WHEN b."window" <> 'total' THEN w.start + ('1 ' || b."window")::interval END AS window_end`;

/** Budgets `b` with the counters of the current window. `elapsed`: the part of the window that has passed, 0 to 1. */
const budgetColumns = sql.fragment`
  b.id, b.name, b.scope, b.workflow_id, b."window", b.limit_micros, b.estimate_micros, b.overrun, b.alerts, b.created_at,
  CASE WHEN b.window_start < w.start THEN 0 ELSE b.spent_micros END AS spent,
  CASE WHEN b.window_start < w.start THEN 0 ELSE b.reserved_micros END AS reserved,
  ${windowBounds},
  CASE WHEN b."window" <> 'total' THEN extract(epoch FROM now() - w.start)
    / extract(epoch FROM ('1 ' || b."window")::interval + w.start - w.start) END AS elapsed`;
/** The start of the current window of budgets `b`, as `w.start`. */
export const currentWindow = sql.fragment`
  CROSS JOIN LATERAL (SELECT greatest(b.window_start, budget_window_start(b."window", now())) AS start) AS w`;

function toBudget(row: z.infer<typeof budgetRow>): Budget {
  const budget = {
    id: row.id,
    name: row.name,
    scope: row.scope,
    workflow_id: row.workflow_id,
    window: row.window,
    limit_usd: toDollars(row.limit_micros),
    reservation_estimate_usd: row.estimate_micros === null ? null : toDollars(row.estimate_micros),
    overrun: row.overrun,
    alerts: row.alerts,
    created_at: row.created_at,
    status: toStatus(row),
  };
  return withEtag(budget, ['status']);
}

function toStatus(row: z.infer<typeof budgetRow>): BudgetStatus {
  const committed = row.spent + row.reserved;
  // A window that started at this instant has no rate yet.
  const projected =
    row.elapsed === null || row.elapsed <= 0 ? row.spent : Math.round(row.spent / row.elapsed);
  return {
    spent_usd: toDollars(row.spent),
    reserved_usd: toDollars(row.reserved),
    committed_usd: toDollars(committed),
    remaining_usd: toDollars(row.limit_micros - committed),
    pct: Math.round((committed / row.limit_micros) * 1_000) / 10,
    over: committed >= row.limit_micros,
    projected_usd: toDollars(projected),
    window_start: row.window_start,
    window_end: row.window_end,
  };
}

/** All budgets of a workspace, oldest first. */
export async function listBudgets(
  db: Db,
  workspaceId: string,
  page: OffsetPage,
): Promise<Budget[]> {
  const rows = await db.any(statement(budgetRow)`
    SELECT ${budgetColumns} FROM budgets b ${currentWindow}
    WHERE b.workspace_id = ${workspaceId} ORDER BY b.created_at, b.id ${offsetClause(page)}
  `);
  return rows.map(toBudget);
}

const roomRow = budgetRow.pick({
  id: true,
  name: true,
  limit_micros: true,
  estimate_micros: true,
  spent: true,
  reserved: true,
});

/**
 * The remaining amounts of these workflows' budgets for new runs. The rule is that of admission, which locks what it
 * reads: see `require_room_1.sql`. This function locks and reserves nothing.
 */
export async function readBudgetRooms(
  db: Db,
  { workspaceId, workflowIds }: { workspaceId: string; workflowIds: readonly string[] },
): Promise<DryRunBudget[]> {
  const rows = await db.any(statement(roomRow)`
    SELECT ${budgetColumns} FROM budgets b ${currentWindow}
    WHERE b.workspace_id = ${workspaceId}
      AND (b.workflow_id IS NULL OR b.workflow_id = ANY (${sql.array([...workflowIds], 'text')}))
    ORDER BY b.id
  `);
  return rows.map(
    ({ id, name, limit_micros: limit, estimate_micros: estimate, spent, reserved }) => {
      // Without an estimate, only the spent amount counts.
      const available = limit - spent - (estimate === null ? 0 : reserved);
      return {
        id,
        name,
        asked_usd: toDollars(estimate ?? 0),
        available_usd: toDollars(available),
        fits: available > 0 && (estimate ?? 0) <= available,
      };
    },
  );
}

/** Throws AppError `not_found`. */
export async function readBudget(
  db: Db,
  scope: { workspaceId: string; budgetId: string },
): Promise<Budget> {
  const row = await db.maybeOne(statement(budgetRow)`
    SELECT ${budgetColumns} FROM budgets b ${currentWindow}
    WHERE b.id = ${scope.budgetId} AND b.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Budget');
  return toBudget(row);
}

/**
 * Creates a budget and returns its id. Earlier spend in the current window counts: finished runs as spent, with one
 * entry in the ledger; active runs with their past and future cost. Every run is either counted here or sees the
 * budget, because this function waits for admissions and resumes in progress, and later ones wait for it. Throws
 * AppError `not_found`, and `conflict` when there are too many budgets.
 */
export async function createBudget(db: Pool, actor: Actor, input: BudgetInput): Promise<string> {
  const { workspaceId } = actor;
  const workflowId = input.workflow_id ?? null;
  const budgetId = newId('budget');
  await db.transaction(async (tx) => {
    // This lock comes first, since the admissions that it waits for take theirs later.
    await lockBudgets(tx, workspaceId);
    await requireRoom(tx, workspaceId, 'budgets');
    if (workflowId !== null) await keepWorkflow(tx, { workspaceId, workflowId });
    await tx.query(statement(z.object({ placed: z.number() }))`
      WITH w AS (
        SELECT budget_window_start(${input.window}, now()) AS start
      ), seen AS (
        SELECT r.id, r.resumed_count, r.cost_micros, r.status IN ('success', 'failed') AS ended,
               CASE WHEN r.created_at >= w.start THEN 0 ELSE r.cost_micros END AS base
        FROM runs r, w
        WHERE r.workspace_id = ${workspaceId} AND (${workflowId}::text IS NULL OR r.workflow_id = ${workflowId})
          AND (r.created_at >= w.start OR r.status IN ('pending', 'running', 'paused'))
      ), entries AS (
        SELECT '' AS run_id, 0 AS n, 0::bigint AS base, NULL::bigint AS estimate, 0::bigint AS held,
               coalesce(sum(cost_micros), 0)::bigint AS spent, 'settled' AS status
        FROM seen WHERE ended
        UNION ALL
        SELECT id, resumed_count, base, CASE WHEN ${input.reservation_estimate_usd != null} THEN 0 END,
               CASE WHEN ${input.reservation_estimate_usd != null} THEN cost_micros - base ELSE 0 END, 0, 'open'
        FROM seen WHERE NOT ended
      ), budget AS (
        INSERT INTO budgets (id, workspace_id, name, scope, workflow_id, "window", limit_micros, estimate_micros,
                             overrun, alerts, window_start, spent_micros, reserved_micros)
        SELECT ${budgetId}, ${workspaceId}, ${input.name}, ${input.scope}, ${workflowId}, ${input.window},
               ${toMicros(input.limit_usd)}, ${microsOrNull(input.reservation_estimate_usd)}, ${input.overrun ?? 'none'},
               ${input.alerts ?? true}, w.start,
               (SELECT sum(spent) FROM entries), (SELECT sum(held) FROM entries)
        FROM w
      ), raised AS (
        UPDATE workspaces SET budget_revision = budget_revision + 1 WHERE id = ${workspaceId}
      ), ledger AS (
        INSERT INTO budget_holds (budget_id, run_id, n, window_start, base_micros, estimate_micros, held_micros,
                                  spent_micros, status, closed_at)
        SELECT ${budgetId}, run_id, n, w.start, base, estimate, held, spent, status,
               CASE WHEN status <> 'open' THEN now() END
        FROM entries, w
      )
      SELECT count(*) AS placed FROM entries
    `);
    await auditBudget(tx, actor, budgetId, 'create', {
      name: input.name,
      limit_usd: input.limit_usd,
      window: input.window,
      workflow_id: workflowId,
      ...(input.alerts === false && { alerts: false }),
    });
  });
  return budgetId;
}

const microsOrNull = (dollars: number | null | undefined): number | null =>
  dollars == null ? null : toMicros(dollars);

const lockedRow = z.object({
  name: z.string(),
  scope: z.string(),
  workflow_id: z.string().nullable(),
  window: z.string(),
  limit_micros: z.number(),
  estimate_micros: z.number().nullable(),
  overrun: z.enum(overrunModes),
  alerts: z.boolean(),
});

/**
 * Changes name, limit, estimate or alerts; existing holds do not change. After another limit, alerts are due again. The limit can be set below the committed amount: then
 * the budget is exceeded. Throws AppError `not_found`, `invalid`.
 */
export async function updateBudget(
  db: Pool,
  actor: Actor,
  budgetId: string,
  body: BudgetUpdate,
): Promise<void> {
  await db.transaction(async (tx) => {
    const before = await tx.maybeOne(statement(lockedRow)`
      SELECT name, scope, workflow_id, "window", limit_micros, estimate_micros, overrun, alerts FROM budgets
      WHERE id = ${budgetId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (before === null) throw notFound('Budget');
    for (const field of ['scope', 'workflow_id', 'window'] as const) {
      if (body[field] !== undefined && body[field] !== before[field]) {
        throw new AppError('invalid', `${field}: cannot be changed; create another budget`);
      }
    }
    const after = {
      name: body.name ?? before.name,
      limit_micros: body.limit_usd === undefined ? before.limit_micros : toMicros(body.limit_usd),
      estimate_micros:
        body.reservation_estimate_usd === undefined
          ? before.estimate_micros
          : microsOrNull(body.reservation_estimate_usd),
      overrun: body.overrun ?? before.overrun,
      alerts: body.alerts ?? before.alerts,
    };
    await tx.query(statement(z.object({}))`
      UPDATE budgets SET name = ${after.name}, limit_micros = ${after.limit_micros},
        estimate_micros = ${after.estimate_micros}, overrun = ${after.overrun}, alerts = ${after.alerts},
        alerted_window = CASE WHEN limit_micros = ${after.limit_micros} THEN alerted_window END, updated_at = now()
      WHERE id = ${budgetId}
    `);
    await auditBudget(tx, actor, budgetId, 'update', {
      name: after.name,
      limit_usd: { from: toDollars(before.limit_micros), to: toDollars(after.limit_micros) },
      ...(after.alerts !== before.alerts && { alerts: { from: before.alerts, to: after.alerts } }),
    });
  });
}

/** Deletes the budget with its ledger; runs with holds on it continue. Throws AppError `not_found`. */
export async function deleteBudget(db: Pool, actor: Actor, budgetId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const name = await tx.maybeOneFirst(statement(z.object({ name: z.string() }))`
      DELETE FROM budgets WHERE id = ${budgetId} AND workspace_id = ${actor.workspaceId} RETURNING name
    `);
    if (name === null) throw notFound('Budget');
    await auditBudget(tx, actor, budgetId, 'delete', { name });
  });
}

const auditBudget = (
  tx: Tx,
  actor: Actor,
  targetId: string,
  action: 'create' | 'update' | 'delete',
  details: Parameters<typeof recordAudit>[2]['details'],
): Promise<void> => recordAudit(tx, actor, { action, targetType: 'budget', targetId, details });
