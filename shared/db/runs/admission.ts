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
  /** At most 255 characters; the same key with the same input gives the same run for as long as it is kept. */
  idempotencyKey?: string;
  /** Instead of a key: what the run is started by, which starts no second one within so many seconds. */
  event?: { id: string; windowSeconds: number };
  /** Of a signed event: the same signature starts no second run, whatever event it names. */
  signature?: SignatureMark;
  /** Defaults to `run` on the workflow. Other surfaces name their own act (`schedule_run`, `webhook_run`). */
  audit?: { action: string; details: JsonObject };
  /** Whose run it is; `dueAt` when the time had come, null when somebody asked for it. */
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

/** A version of a workflow: its graph as it will run, or why it cannot. */
export interface Runnable {
  version: number;
  graph?: Graph;
  /** AppError `graph_invalid`. */
  refusal?: AppError;
  /** Of a graph that calls the workspace's own tools: which were registered when it was checked. */
  toolRevision?: number;
}

/** The workflow's current version. It may be remembered, and out of date, unless it is asked for `anew`. */
export type FindRunnable = (
  db: Db,
  ids: { workspaceId: string; workflowId: string },
  anew: boolean,
) => Promise<Runnable | undefined>;

/**
 * The one way a run comes to be, whoever triggers it. In one statement and in this order: replay of the idempotency
 * key or the event, monthly quota, budgets, validity of the graph; then the run pinned to the workflow's current
 * version, its holds, its audit entry and the promise to start it. A refusal leaves nothing behind but, by a budget,
 * its governance event. The graph was checked before; the statement holds only while the version it was checked for is
 * still the current one, and the tools of the workspace's own that it calls are still those it was checked for, also
 * after it has waited for others; else the workflow is looked at anew.
 *
 * Throws AppError: `not_found`, `idempotency_mismatch`, `quota_exceeded`, `budget_exceeded`, `graph_invalid`,
 * and `conflict` when the schedule forbids a second run beside a live one. A run that there is already for the same
 * schedule and time breaks the constraint `runs_one_per_tick`.
 */
export async function admitRun(
  db: Pool,
  request: RunRequest,
  findRunnable: FindRunnable,
): Promise<Admission> {
  const ids = { workspaceId: request.actor.workspaceId, workflowId: request.workflowId };
  for (let anew = false; ; anew = true) {
    const runnable = await findRunnable(db, ids, anew);
    // What was refused before may be allowed by now.
    if (runnable?.refusal !== undefined && !anew) continue;
    if (runnable !== undefined) {
      const admitted = await insertRun(db, request, runnable, anew);
      if (admitted !== undefined) return admitted;
    }
    const earlier = await findReplay(db, request);
    if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
    if (runnable === undefined && anew) throw notFound('Workflow');
    if (request.schedule !== undefined) {
      await requireSchedule(db, { ...ids, scheduleId: request.schedule.id });
    }
  }
}

const fingerprintOf = (input: JsonObject): string =>
  createHash('sha256').update(canonicalJson(input)).digest('hex');

const claimRow = z.object({ run_id: z.string(), fingerprint: z.string() });

/** The run that was started by the request's event, or has its idempotency key, already. */
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
  /** Of the statement it is part of. */
  name: string;
  claim: FragmentSqlToken;
  /** A reason not to admit it that goes before all others, to be joined to theirs. */
  refused: FragmentSqlToken;
}

/**
 * What a request claims before anything is counted: `claim` has a row when it got it. Of two that claim the same, the
 * second waits for the first to commit, and gets nothing, or to be refused, and gets it.
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

// A row past its window is taken over by an UPDATE of its own: ON CONFLICT DO UPDATE would lock the row for every
// duplicate too, and each would wait for the disk before the next could look.
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
 * The signature, then the event, always in this order, so that no two wait for each other. A signature that came first
 * and an event that did not would leave a signature without a run: that ends the statement, and the run of the event is
 * found in the next round.
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
 * Runs of a schedule are admitted one at a time. Of those that are at once only the first is seen by this statement:
 * the schedule's newest run tells the others that what they see is out of date.
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

/** The run of this id as it is now: what an admission wrote whose answer was lost. */
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

/** Unlimited plans count in so many rows, so that their triggers do not wait for each other. */
const COUNTER_SHARDS = 16;
const runsPerMonth = JSON.stringify(
  Object.fromEntries(planNames.map((name) => [name, plans[name].runsPerMonth])),
);

const quotaFacts = z.object({ used: z.number(), limit: z.number(), plan: z.string() });

/** The error that a refusal by the database stands for; anything else as it is. */
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
 * Undefined, with nothing written, when another version of the workflow is current, when it is gone, when tools that
 * it calls may be, when it or its workspace changed or a budget was created meanwhile, when the idempotency key, the
 * event or the signature is taken, or when another run of the schedule was admitted meanwhile.
 *
 * A budget that is created is waited for with an old snapshot, which is of no use then, so that one after the other
 * could keep a run from being admitted. `inTurn` it is waited for before the statement begins.
 */
async function insertRun(
  db: Pool,
  request: RunRequest,
  runnable: Runnable,
  inTurn: boolean,
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
      -- A deletion that is under way is waited for.
      FOR KEY SHARE OF w
    ), ${claim}, claimed AS (
      SELECT * FROM workflow WHERE EXISTS (SELECT FROM claim)
    ), spread AS (
      -- Counted while the plan was unlimited, and all there are as far as can be seen without waiting for anybody.
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
      -- In the order of the gates: the first one ends the statement.
      ${refused}
      SELECT refuse('quota', json_build_object('limit', run_limit, 'plan', plan, 'used', greatest(run_limit, seen)))
      FROM claimed, spread WHERE NOT EXISTS (SELECT FROM quota)
      UNION ALL ${refusedBudget}
      -- After the last wait, that of 'kept': what was read before may have changed meanwhile.
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
      () => (inTurn ? afterBudgets(db, actor.workspaceId, statement) : db.maybeOne(statement)),
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
