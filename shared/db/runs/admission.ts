import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../../actor.ts';
import type { Graph } from '../../contract/graph.ts';
import type { RunSummary, Trigger } from '../../contract/run.ts';
import { AppError, conflict, notFound } from '../../errors.ts';
import { canonicalJson } from '../../graph/diff.ts';
import type { JsonObject } from '../../json.ts';
import { newId } from '../../crypto/ids.ts';
import { planNames, plans } from '../../plans.ts';
import { recordGovernanceEvent } from '../audit/governance.ts';
import {
  asBudgetError,
  blockedVerdict,
  BudgetExceeded,
  placeHolds,
  refusedBudget,
  shareBudgets,
} from '../money/holds.ts';
import { thisMonth } from '../month.ts';
import { LEASE_MS, type OutboxRow } from './outbox.ts';
import { withCertainty } from '../commit-outcome.ts';
import {
  type Db,
  type FragmentSqlToken,
  type Pool,
  type QuerySqlToken,
  refusalOf,
  sql,
} from '../pool.ts';
import { requireSchedule } from '../workflows/schedules.ts';
import type { SignatureMark } from '../workflows/webhooks.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';

export interface RunRequest {
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>;
  workflowId: string;
  trigger: Trigger;
  input: JsonObject;
  /** At most 255 characters; the same key with the same input returns the same run while the key is kept. */
  idempotencyKey?: string;
  /** Instead of a key: the event that starts the run. It starts no second run within this window. */
  event?: { id: string; windowSeconds: number };
  /** For a signed event: the same signature starts no second run, even with another event id. */
  signature?: SignatureMark;
  /** Defaults to `run` on the workflow. Other triggers name their own action (`schedule_run`, `webhook_run`). */
  audit?: { action: string; details: JsonObject };
  /** The schedule that starts the run; `dueAt` is null when a member started it by hand. */
  schedule?: { id: string; dueAt: string | null };
}

export interface AdmittedRun {
  runId: string;
  workspaceId: string;
  workflowId: string;
  workflowName: string;
  workflowVersion: number;
  trigger: Trigger;
  actorName: string | null;
  graph: Graph;
  input: JsonObject;
}

export type Admission =
  | { outcome: 'admitted'; run: AdmittedRun; summary: RunSummary; outbox: OutboxRow }
  | { outcome: 'replayed'; runId: string };

/** A version of a workflow: its graph, or why it cannot run. */
export interface Runnable {
  version: number;
  graph?: Graph;
  /** AppError `graph_invalid`. */
  refusal?: AppError;
  /** For a graph that calls custom tools: the revision of the registered tools when it was checked. */
  toolRevision?: number;
}

/** The workflow's current version. It may come from a cache and be out of date, unless it is read `fresh`. */
export type FindRunnable = (
  db: Db,
  ids: { workspaceId: string; workflowId: string },
  fresh: boolean,
) => Promise<Runnable | undefined>;

/**
 * The only way to create a run, for all triggers. One statement, in this order: replay of the idempotency key or the
 * event, monthly quota, budgets, validity of the graph; then the run, pinned to the workflow's current version, its
 * holds, its audit entry and the outbox entry to start it. A refusal writes nothing except, for a budget, its
 * governance event. The graph was checked before. The statement succeeds only while that version and the custom tools
 * that it calls are still current, also after a wait for locks; otherwise the workflow is read again.
 *
 * Throws AppError: `not_found`, `idempotency_mismatch`, `quota_exceeded`, `budget_exceeded`, `graph_invalid`, and
 * `conflict` when the schedule forbids a second active run. A second run for the same schedule and time breaks the
 * constraint `runs_one_per_tick`.
 */
export async function admitRun(
  db: Pool,
  request: RunRequest,
  findRunnable: FindRunnable,
): Promise<Admission> {
  const ids = { workspaceId: request.actor.workspaceId, workflowId: request.workflowId };
  for (let fresh = false; ; fresh = true) {
    const runnable = await findRunnable(db, ids, fresh);
    // A refusal from the cache may be out of date.
    if (runnable?.refusal !== undefined && !fresh) continue;
    if (runnable !== undefined) {
      const admitted = await insertRun(db, request, runnable, fresh);
      if (admitted !== undefined) return admitted;
    }
    const earlier = await findReplay(db, request);
    if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
    if (runnable === undefined && fresh) throw notFound('Workflow');
    if (request.schedule !== undefined) {
      await requireSchedule(db, { ...ids, scheduleId: request.schedule.id });
    }
  }
}

const fingerprintOf = (input: JsonObject): string =>
  createHash('sha256').update(canonicalJson(input)).digest('hex');

const claimRow = z.object({ run_id: z.string(), fingerprint: z.string() });

/** The existing run of the request's event or idempotency key. */
async function findReplay(db: Db, request: RunRequest): Promise<string | undefined> {
  if (request.signature !== undefined) {
    const signed = await findSignedRun(db, request, request.signature);
    if (signed !== undefined) return signed;
  }
  if (request.event !== undefined) return findEventRun(db, request, request.event);
  if (request.idempotencyKey === undefined) return undefined;
  const earlier = await db.maybeOne(sql.prepared('admission_read_key', claimRow)`
    SELECT run_id, encode(fingerprint, 'hex') AS fingerprint FROM idempotency_keys
    WHERE workspace_id = ${request.actor.workspaceId} AND workflow_id = ${request.workflowId}
      AND key = ${request.idempotencyKey}
  `);
  if (earlier === null) return undefined;
  if (earlier.fingerprint !== fingerprintOf(request.input)) {
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another input; use a new key for a new run',
    );
  }
  return earlier.run_id;
}

async function findSignedRun(
  db: Db,
  { actor, workflowId }: RunRequest,
  { hash }: SignatureMark,
): Promise<string | undefined> {
  const earlier = await db.maybeOne(sql.prepared(
    'admission_read_signature',
    z.object({ run_id: z.string() }),
  )`
    SELECT s.run_id FROM webhook_signatures s JOIN workflows w ON w.id = s.workflow_id
    WHERE s.workflow_id = ${workflowId} AND s.signature = ${sql.binary(hash)}
      AND w.workspace_id = ${actor.workspaceId}
  `);
  return earlier?.run_id;
}

async function findEventRun(
  db: Db,
  { actor, workflowId }: RunRequest,
  event: { id: string; windowSeconds: number },
): Promise<string | undefined> {
  const earlier = await db.maybeOne(sql.prepared(
    'admission_read_event',
    z.object({ run_id: z.string() }),
  )`
    SELECT e.run_id FROM webhook_events e JOIN workflows w ON w.id = e.workflow_id
    WHERE e.workflow_id = ${workflowId} AND e.event_id = ${event.id} AND w.workspace_id = ${actor.workspaceId}
      AND e.received_at >= now() - ${event.windowSeconds}::int * interval '1 second'
  `);
  return earlier?.run_id;
}

interface Claim {
  /** Name of the prepared statement. */
  name: string;
  claim: FragmentSqlToken;
  /** A refusal that comes before all others, as part of their UNION. */
  refused: FragmentSqlToken;
}

/**
 * What a request claims before anything is counted: `claim` has a row if the request got it. Of two requests with the
 * same claim, the second waits for the first. If the first commits, the second gets nothing; if it is refused, the
 * second gets the claim.
 */
function claimOf(request: RunRequest, runId: string): Claim {
  const { event, idempotencyKey: key, schedule, signature } = request;
  const refused = sql.fragment``;
  if (schedule !== undefined) {
    return { name: 'admission_insert_scheduled_run', ...scheduleClaim(schedule.id, runId) };
  }
  if (signature !== undefined) return signedClaim(signature, event, runId);
  if (event !== undefined) {
    return {
      name: 'admission_insert_event_run',
      claim: eventClaim(event, runId, sql.fragment`workflow`),
      refused,
    };
  }
  if (key === undefined) {
    const claim = sql.fragment`claim AS (SELECT FROM workflow)`;
    return { name: 'admission_insert_run', claim, refused };
  }
  return {
    name: 'admission_insert_keyed_run',
    refused,
    claim: sql.fragment`claim AS (
      INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
      SELECT workspace_id, id, ${key}, decode(${fingerprintOf(request.input)}, 'hex'), ${runId} FROM workflow
      ON CONFLICT DO NOTHING RETURNING run_id
    )`,
  };
}

// A separate UPDATE takes over a row past its window. ON CONFLICT DO UPDATE would lock the row for every duplicate
// too, and each would wait for a disk write before the next could read it.
const eventClaim = (
  event: { id: string; windowSeconds: number },
  runId: string,
  entrant: FragmentSqlToken,
) => sql.fragment`
    renewed AS (
      UPDATE webhook_events e SET run_id = ${runId}, received_at = now() FROM ${entrant} w
      WHERE e.workflow_id = w.id AND e.event_id = ${event.id}
        AND e.received_at < now() - ${event.windowSeconds}::int * interval '1 second'
      RETURNING e.run_id
    ), fresh AS (
      INSERT INTO webhook_events (workflow_id, event_id, run_id)
      SELECT id, ${event.id}, ${runId} FROM ${entrant} WHERE NOT EXISTS (SELECT FROM renewed)
      ON CONFLICT DO NOTHING RETURNING run_id
    ), claim AS (
      SELECT run_id FROM renewed UNION ALL SELECT run_id FROM fresh
    )`;

/**
 * The signature first, then the event, always in this order, to avoid deadlocks. A new signature with an old event
 * would leave a signature without a run: this ends the statement, and the next iteration finds the run of the event.
 */
function signedClaim(signature: SignatureMark, event: RunRequest['event'], runId: string): Claim {
  const signed = sql.fragment`
    signed AS (
      INSERT INTO webhook_signatures (workflow_id, signature, run_id, signed_at)
      SELECT id, ${sql.binary(signature.hash)}, ${runId}, to_timestamp(${signature.signedAt}::bigint) FROM workflow
      ON CONFLICT DO NOTHING RETURNING workflow_id AS id
    )`;
  if (event === undefined) {
    return {
      name: 'admission_insert_signed_run',
      claim: sql.fragment`${signed}, claim AS (SELECT FROM signed)`,
      refused: sql.fragment``,
    };
  }
  return {
    name: 'admission_insert_signed_event_run',
    claim: sql.fragment`${signed}, ${eventClaim(event, runId, sql.fragment`signed`)}`,
    refused: sql.fragment`
      SELECT refuse('event', '{}') FROM signed WHERE NOT EXISTS (SELECT FROM claim)
      UNION ALL`,
  };
}

/**
 * Runs of a schedule are admitted one at a time. This statement sees only the first of several concurrent ones; the
 * schedule's newest run shows the others that their snapshot is out of date.
 */
const scheduleClaim = (scheduleId: string, runId: string) => ({
  claim: sql.fragment`
    claim AS (
      UPDATE schedules s SET last_run_id = ${runId}, last_run_at = now()
      FROM workflow w, (SELECT last_run_id FROM schedules WHERE id = ${scheduleId}) AS seen
      WHERE s.id = ${scheduleId} AND s.workspace_id = w.workspace_id AND s.workflow_id = w.id
        AND s.last_run_id IS NOT DISTINCT FROM seen.last_run_id
      RETURNING s.overlap
    )`,
  refused: sql.fragment`
      SELECT refuse('overlap', '{}') FROM claim
      WHERE overlap = 'skip' AND EXISTS (
        SELECT FROM runs WHERE schedule_id = ${scheduleId} AND status IN ('pending', 'running', 'paused'))
      UNION ALL`,
});

const admittedRow = z.object({ ...summaryRow.shape, outbox_id: z.number() });

/** The run with this id: what an admission wrote whose response was lost. */
async function findAdmitted(db: Pool, runId: string) {
  return db.maybeOne(sql.prepared('admission_find_admitted', admittedRow)`
    SELECT ${summaryColumns},
           coalesce((SELECT id FROM outbox WHERE run_id = r.id AND kind = 'start'), 0) AS outbox_id
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE r.id = ${runId}
  `);
}

const afterBudgets = (
  db: Pool,
  workspaceId: string,
  statement: QuerySqlToken<typeof admittedRow>,
): Promise<z.infer<typeof admittedRow> | null> =>
  db.transaction(async (tx) => {
    await shareBudgets(tx, workspaceId);
    return tx.maybeOne(statement);
  });

/** Unlimited plans count in this many rows, so that concurrent triggers do not wait for each other. */
const COUNTER_SHARDS = 16;
const runsPerMonth = JSON.stringify(
  Object.fromEntries(planNames.map((name) => [name, plans[name].runsPerMonth])),
);

const quotaFacts = z.object({ used: z.number(), limit: z.number(), plan: z.string() });

/** The error for a refusal by the database; other errors unchanged. */
function asRefusal(error: unknown, runnable: Runnable): unknown {
  const refusal = refusalOf(error);
  switch (refusal?.reason) {
    case 'quota': {
      const { used, limit, plan } = quotaFacts.parse(refusal.facts);
      return new AppError(
        'quota_exceeded',
        `Monthly run limit reached (${used}/${limit} on the ${plan} plan). Upgrade the plan to run more.`,
      );
    }
    case 'graph':
      return runnable.refusal;
    case 'overlap':
      return conflict('The previous run of this schedule has not ended');
    default:
      return asBudgetError(error);
  }
}

/**
 * Undefined, with nothing written, when the version is no longer current, the workflow was deleted, its custom tools
 * may have changed, the workflow or its workspace changed or a budget was created during the statement, the idempotency
 * key, event or signature is taken, or another run of the schedule was admitted.
 *
 * A statement that waits for a new budget has an outdated snapshot afterwards, so a series of new budgets could delay
 * the run forever. With `afterBudgetLock`, the wait comes before the statement.
 */
async function insertRun(
  db: Pool,
  request: RunRequest,
  runnable: Runnable,
  afterBudgetLock: boolean,
): Promise<Admission | undefined> {
  const { actor, trigger, input } = request;
  const { version, graph, toolRevision } = runnable;
  const runId = newId('run');
  const { name, claim, refused } = claimOf(request, runId);
  const details = { run_id: runId, trigger, ...request.audit?.details };
  const statement = sql.prepared(name, admittedRow)`
    WITH workflow AS (
      SELECT w.id, w.workspace_id, w.version, w.run_cap_micros, s.plan,
             (${runsPerMonth}::json ->> s.plan)::bigint AS run_limit
      FROM share_budgets(${actor.workspaceId}) AS budgets(revision)
      CROSS JOIN workflows w JOIN workspaces s ON s.id = w.workspace_id
      WHERE w.id = ${request.workflowId} AND w.workspace_id = ${actor.workspaceId} AND w.version = ${version}
        AND (${toolRevision ?? null}::int IS NULL OR s.tool_revision = ${toolRevision ?? null}::int)
        -- They differ when a budget was created after this statement began.
        AND s.budget_revision = budgets.revision
      -- Waits for a deletion in progress.
      FOR KEY SHARE OF w
    ), ${claim}, claimed AS (
      SELECT * FROM workflow WHERE EXISTS (SELECT FROM claim)
    ), spread AS (
      -- Counted while the plan was unlimited, and all runs that are visible without waiting for a lock.
      SELECT coalesce(sum(c.runs) FILTER (WHERE c.shard > 0), 0) AS runs, coalesce(sum(c.runs), 0) AS seen
      FROM claimed w JOIN run_counters c ON c.workspace_id = w.workspace_id AND c.month = ${thisMonth}
    ), quota AS (
      INSERT INTO run_counters AS c (workspace_id, month, shard, runs)
      SELECT workspace_id, ${thisMonth},
             CASE WHEN run_limit IS NULL THEN 1 + floor(random() * ${COUNTER_SHARDS}::int)::int ELSE 0 END, 1
      FROM claimed, spread WHERE run_limit IS NULL OR spread.seen < run_limit
      ON CONFLICT (workspace_id, month, shard) DO UPDATE SET runs = c.runs + 1
      WHERE (SELECT run_limit IS NULL OR c.runs + spread.runs < run_limit FROM claimed, spread)
      RETURNING runs
    ), subject AS (
      SELECT ${runId} AS run_id, 0 AS n, 0::bigint AS base_micros, workspace_id, id AS workflow_id, false AS exempt
      FROM claimed WHERE EXISTS (SELECT FROM quota)
    ), ${placeHolds}, refused AS MATERIALIZED (
      -- In the order of the checks: the first refusal ends the statement.
      ${refused}
      SELECT refuse('quota', json_build_object('limit', run_limit, 'plan', plan, 'used', greatest(run_limit, seen)))
      FROM claimed, spread WHERE NOT EXISTS (SELECT FROM quota)
      UNION ALL ${refusedBudget}
      -- After the last wait, that of 'kept': what was read before may have changed.
      UNION ALL SELECT refuse('changed', '{}') FROM claimed c
      WHERE (SELECT count(*) FROM kept) >= 0 AND NOT EXISTS (
        SELECT FROM workflow_now(c.id) n
        WHERE n.version = c.version AND n.run_cap_micros IS NOT DISTINCT FROM c.run_cap_micros AND n.plan = c.plan
          AND (${toolRevision ?? null}::int IS NULL OR n.tool_revision = ${toolRevision ?? null}::int))
      UNION ALL SELECT refuse('graph', '{}') FROM claimed WHERE ${graph === undefined}
    ), run AS (
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, created_by,
                        created_by_name, schedule_id, due_at)
      SELECT ${runId}, workspace_id, id, version, ${trigger}, ${JSON.stringify(input)}::json, run_cap_micros,
             ${actor.id}, ${actor.name}, ${request.schedule?.id ?? null},
             ${request.schedule?.dueAt ?? null}::timestamptz
      FROM claimed
      RETURNING *
    ), used AS (
      INSERT INTO usage_deltas (workspace_id, day, runs) SELECT workspace_id, created_at::date, 1 FROM run
    ), audit AS (
      INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
      SELECT ${newId('audit')}, workspace_id, ${request.audit?.action ?? 'run'}, ${actor.id}, ${actor.name},
             'workflow', workflow_id, ${JSON.stringify(details)}::jsonb
      FROM run
    ), promise AS (
      INSERT INTO outbox (run_id, kind, leased_until)
      SELECT id, 'start', now() + ${LEASE_MS}::int * interval '1 ms' FROM run
      RETURNING id
    )
    SELECT ${summaryColumns}, (SELECT id FROM promise) AS outbox_id
    FROM run r JOIN workflows w ON w.id = r.workflow_id
    WHERE (SELECT count(*) FROM refused) = 0
  `;
  let row;
  try {
    row = await withCertainty(
      () =>
        afterBudgetLock ? afterBudgets(db, actor.workspaceId, statement) : db.maybeOne(statement),
      () => findAdmitted(db, runId),
    );
  } catch (error) {
    const reason = refusalOf(error)?.reason;
    if (reason === 'event' || reason === 'changed') return undefined;
    const refusal = asRefusal(error, runnable);
    if (refusal instanceof BudgetExceeded) {
      await recordGovernanceEvent(db, {
        ...blockedVerdict(refusal.blocked),
        workspaceId: actor.workspaceId,
        workflowId: request.workflowId,
        version,
      });
    }
    throw refusal;
  }
  if (row === null || graph === undefined) return undefined;
  const { outbox_id, ...summary } = row;
  return {
    outcome: 'admitted',
    summary: toSummary(summary),
    outbox: { id: outbox_id, run_id: runId, kind: 'start', payload: {}, attempts: 0 },
    run: {
      runId,
      workspaceId: row.workspace_id,
      workflowId: row.workflow_id,
      workflowName: row.workflow_name,
      workflowVersion: row.workflow_version,
      trigger,
      actorName: actor.name,
      graph,
      input,
    },
  };
}
