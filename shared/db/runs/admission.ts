import { UniqueIntegrityConstraintViolationError } from 'slonik';
import { z } from 'zod';
import type { Graph } from '#shared/contract/graph.ts';
import type { RunSummary, Trigger } from '#shared/contract/run.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import { leastCostOf } from '#shared/graph/least-cost.ts';
import type { JsonObject } from '#shared/json.ts';
import { MAX_RUN_DEPTH } from '#shared/limits.ts';
import { newId } from '#shared/crypto/ids.ts';
import { planNames, plans } from '#shared/plans.ts';
import { recordGovernanceEvent } from '#shared/db/audit/governance.ts';
import { placeHolds, refusedBudget, shareBudgets } from '#shared/db/money/holds.ts';
import { asBudgetError, blockedVerdict, BudgetExceeded } from '#shared/db/money/blocked.ts';
import { LEASE_MS, type OutboxRow } from './outbox.ts';
import { startWaits } from '#shared/db/children/starts.ts';
import { withCertainty } from '#shared/db/commit-outcome.ts';
import {
  jsonOrNull,
  type Pool,
  type QuerySqlToken,
  refusalOf,
  sql,
  type FragmentSqlToken,
} from '#shared/db/pool.ts';
import { requireSchedule } from '#shared/db/workflows/schedules.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';
import { requireRunningJob } from '#shared/db/jobs/jobs.ts';
import {
  claimOf,
  countedRun,
  findReplay,
  requireParent,
  uncountedRun,
} from './admission-claims.ts';
import { copying } from '#shared/db/forks/copies.ts';
import { startersOf } from '#shared/db/gates/gate-records.ts';
import { logging } from '#shared/db/inbound/log.ts';
import {
  type CompareChosen,
  type FindRunnable,
  rulesOf,
  type Runnable,
  type RunRequest,
  storedRehearsal,
  type Wanted,
} from './run-request.ts';

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
  /** What is laid over the state at steps, by step key. */
  laid: Record<string, JsonObject>;
  /** Its ledger has steps of another run already. */
  forked: boolean;
  /** The steps that have the result of the run that it starts from, if they are executed with the same. */
  reuses: readonly string[];
  /** How it rehearses another run; undefined for an ordinary run. */
  rehearsal?: ReturnType<typeof rulesOf>;
}

export type Admission =
  /** Without an outbox row to dispatch, the run is started later. */
  | { outcome: 'admitted'; run: AdmittedRun; summary: RunSummary; outbox?: OutboxRow }
  | { outcome: 'replayed'; runId: string };

/**
 * The only way to create a run, for all triggers. One statement, in this order: replay of the idempotency key, the
 * event or the step, monthly quota, budgets, validity of the graph and of the input; then the run, pinned to the workflow's current version (or the wanted one), its
 * holds, its audit entry and the outbox entry to start it. A refusal writes nothing except, for a budget, its
 * governance event. Graph and input were checked before. The statement succeeds only while that version and the custom tools
 * that it calls are still current, also after a wait for locks; otherwise the workflow is read again.
 *
 * What was chosen instead of the current version is compared with it before, if there is something to compare; the
 * statement then succeeds only while that version is current.
 *
 * Throws AppError: `not_found`, `idempotency_mismatch`, `forbidden`, `quota_exceeded`, `budget_exceeded`, `graph_invalid`,
 * `input_invalid`, and `conflict` when the schedule forbids a second active run. A second run for the same schedule and time breaks the
 * constraint `runs_one_per_tick`.
 */
export async function admitRun(
  db: Pool,
  request: RunRequest,
  findRunnable: FindRunnable,
  compareChosen?: CompareChosen,
): Promise<Admission> {
  const ids: Wanted = {
    workspaceId: request.actor.workspaceId,
    workflowId: request.workflowId,
    ...(request.version === undefined ? {} : { version: request.version }),
    ...(request.drawn === undefined ? {} : { drawn: request.drawn }),
  };
  for (let fresh = false; ; fresh = true) {
    const runnable = await findRunnable(db, ids, fresh);
    // A refusal from the cache may be out of date.
    if (runnable?.refusal !== undefined && !fresh) continue;
    if (runnable !== undefined) {
      const inputRefusal = await runnable.refuseInput?.(request.input);
      const compared = await compareChosen?.(runnable);
      if (compared?.refusal !== undefined) {
        const earlier = await findReplay(db, request);
        if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
        throw compared.refusal;
      }
      const judged = { ...runnable, inputRefusal, comparedWith: compared?.current };
      const admitted = await insertRun(db, request, judged, fresh);
      if (admitted !== undefined) return admitted;
    }
    const earlier = await findReplay(db, request);
    if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
    if (runnable === undefined && fresh) throw notFound('Workflow');
    if (request.parent !== undefined) await requireParent(db, request.parent);
    const jobId = request.experimentId ?? request.replay?.jobId;
    if (jobId !== undefined) await requireRunningJob(db, jobId);
    if (request.schedule !== undefined) {
      await requireSchedule(db, { ...ids, scheduleId: request.schedule.id });
    }
  }
}

const admittedRow = z.object({ ...summaryRow.shape, outbox_id: z.number().nullable() });

/** Finds the run of an admission whose response was lost. */
async function findAdmitted(db: Pool, runId: string) {
  return db.maybeOne(sql.prepared('admission_find_admitted', admittedRow)`
    SELECT ${summaryColumns},
           (SELECT id FROM outbox WHERE run_id = r.id AND kind = 'start' AND leased_until IS NOT NULL) AS outbox_id
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

const runsPerMonth = JSON.stringify(
  Object.fromEntries(planNames.map((name) => [name, plans[name].runsPerMonth])),
);

const quotaFacts = z.object({ used: z.number(), limit: z.number(), plan: z.string() });

const capFacts = z.object({ committed_micros: z.number(), limit_micros: z.number() });

/** The least that a run costs if it costs anything, in micro-dollars; null: it costs nothing. */
const leastCost = ({ rehearsal }: RunRequest, { graph }: Judged): number | null =>
  graph === undefined || rehearsal?.allow.includes('agent') === false ? null : leastCostOf(graph);

/** A version, and why it does not accept the input of the request. */
type Judged = Runnable & {
  inputRefusal: AppError | undefined;
  /** The version with which it was compared: the current one, or the comparison does not count. */
  comparedWith: number | undefined;
};

/** The error for a refusal by the database; other errors unchanged. */
function asRefusal(error: unknown, request: RunRequest, runnable: Judged): unknown {
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
    case 'input':
      return runnable.inputRefusal;
    case 'cap': {
      const { committed_micros: committedMicros, limit_micros: limitMicros } = capFacts.parse(
        refusal.facts,
      );
      const requestMicros = leastCost(request, runnable) ?? 0;
      const facts = { budgetId: null, name: null, committedMicros, limitMicros, requestMicros };
      return new BudgetExceeded(facts);
    }
    case 'depth':
      return conflict(
        `Runs can start other runs up to a depth of ${MAX_RUN_DEPTH}, and this one would be deeper`,
      );
    case 'source':
      return conflict(
        'The run that it starts from was deleted, or its steps have changed: try again',
      );
    case 'overlap':
      return conflict('The previous run of this schedule has not ended');
    default:
      return asBudgetError(error);
  }
}

/** A row of `subject` for the budgets, for a run that may cost something. */
const budgetSubject = ({ rehearsal }: RunRequest, runId: string) => sql.fragment`
    subject AS (
      SELECT ${runId} AS run_id, 0 AS n, 0::bigint AS base_micros, workspace_id, id AS workflow_id, false AS exempt
      FROM claimed WHERE EXISTS (SELECT FROM quota) AND ${rehearsal?.allow.includes('agent') ?? true}
    )`;

/** Every reason to refuse, in the order of the checks: the first one ends the statement. */
const refusedRun = (
  claimRefused: FragmentSqlToken,
  { graph, toolRevision, inputRefusal }: Judged,
) => sql.fragment`
    refused AS MATERIALIZED (
      ${claimRefused}
      SELECT refuse('quota', json_build_object('limit', run_limit, 'plan', plan, 'used', greatest(run_limit, seen)))
      FROM claimed, spread WHERE NOT EXISTS (SELECT FROM quota)
      UNION ALL ${refusedBudget}
      -- After the last wait, that of 'kept': what was read before may have changed.
      UNION ALL SELECT refuse('changed', '{}') FROM claimed c
      WHERE (SELECT count(*) FROM kept) >= 0 AND NOT EXISTS (
        SELECT FROM workflow_now(c.id) n
        WHERE n.version = c.version AND n.run_cap_micros IS NOT DISTINCT FROM c.run_cap_micros AND n.overrun = c.overrun
          AND n.plan = c.plan
          AND (${toolRevision ?? null}::int IS NULL OR n.tool_revision = ${toolRevision ?? null}::int))
      UNION ALL SELECT refuse('graph', '{}') FROM claimed WHERE ${graph === undefined}
      UNION ALL SELECT refuse('input', '{}') FROM claimed WHERE ${inputRefusal !== undefined}
    )`;

/** Everyone who counts as a starter of the run: see `startersOf`. */
const startersOfRequest = ({ actor, schedule, parent, fork }: RunRequest): FragmentSqlToken =>
  sql.fragment`ARRAY(
    SELECT DISTINCT started.by FROM (
      SELECT ${actor.id}::text AS by
      UNION ALL SELECT unnest(created_by || editors) FROM schedules WHERE id = ${schedule?.id ?? null}
      UNION ALL SELECT unnest(${startersOf}) FROM runs r
      WHERE r.id IN (${parent?.runId ?? null}, ${fork?.sourceId ?? null})
    ) AS started WHERE started.by IS NOT NULL ORDER BY 1)`;

/** The rows of an admitted run: the run, its count in the usage, its audit entry and the outbox entry to start it. */
function admittedRows(request: RunRequest, { graph }: Judged, runId: string): FragmentSqlToken {
  const { actor, trigger, input, fork } = request;
  const laid = fork === undefined || Object.keys(fork.laid).length === 0 ? null : fork.laid;
  const details = { run_id: runId, trigger, ...request.audit?.details };
  return sql.fragment`
    run AS (
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, overrun, created_by,
                        created_by_name, schedule_id, due_at, parent_run_id, parent_step_key, parent_attempt, depth,
                        starter_id, starters, forked_from, forked_from_step, laid, graph, rehearsal, experiment_id,
                        inbound_event_id)
      SELECT ${runId}, workspace_id, id, run_version, ${trigger}, ${JSON.stringify(input)}::json, run_cap_micros, overrun,
             ${actor.id}, ${actor.name}, ${request.schedule?.id ?? null},
             ${request.schedule?.dueAt ?? null}::timestamptz, ${request.parent?.runId ?? null},
             ${request.parent?.stepKey ?? null}, ${request.parent?.attempt ?? 0}::int,
             1 + coalesce((SELECT depth FROM runs WHERE id = ${request.parent?.runId ?? null}), 0),
             coalesce(${actor.id}, (SELECT created_by FROM schedules WHERE id = ${request.schedule?.id ?? null}),
                      (SELECT starter_id FROM runs WHERE id = ${request.parent?.runId ?? null})),
             ${startersOfRequest(request)},
             (SELECT id FROM runs WHERE id = ${fork?.sourceId ?? null} FOR KEY SHARE), ${fork?.fromStep ?? null}, ${jsonOrNull(laid)},
             ${jsonOrNull(request.drawn === undefined ? null : (graph ?? null))}, ${jsonOrNull(storedRehearsal(request.rehearsal))}, ${request.experimentId ?? null},
             ${request.inbound?.id ?? request.replay?.eventId ?? null}
      FROM claimed
      RETURNING *
    ), used AS (
      INSERT INTO usage_deltas (workspace_id, day, runs)
      SELECT workspace_id, created_at::date, 1 FROM run WHERE rehearsal IS NULL
    ), audit AS (
      INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
      SELECT ${newId('audit')}, workspace_id, ${request.audit?.action ?? 'run'}, ${actor.id}, ${actor.name},
             'workflow', workflow_id, ${JSON.stringify(details)}::jsonb
      -- The experiment has an entry of its own.
      FROM run WHERE experiment_id IS NULL
    ), promise AS (
      INSERT INTO outbox (run_id, kind, due_at, leased_until)
      SELECT id, 'start', CASE WHEN waits THEN 'infinity' ELSE now() END,
             CASE WHEN NOT waits THEN now() + ${LEASE_MS}::int * interval '1 ms' END
      FROM (SELECT run.id, ${request.parent === undefined ? sql.fragment`false` : startWaits} AS waits FROM run) AS new
      RETURNING id, leased_until
    )`;
}

/** The single statement of an admission; returns no row when something it relies on has changed. */
function admission(request: RunRequest, runnable: Judged, runId: string) {
  const { actor } = request;
  const { version, toolRevision, comparedWith = null } = runnable;
  const leastMicros = leastCost(request, runnable);
  const { name, claim, refused } = claimOf(request, runId, leastMicros);
  const copies = copying(request.fork?.copies, request.rehearsal?.digests ?? request.fork?.digests);
  const log = logging(request);
  const counted = request.rehearsal === undefined ? '' : '_rehearsal';
  return sql.prepared(name + copies.suffix + counted + log.suffix, admittedRow)`
    WITH workflow AS (
      SELECT w.id, w.workspace_id, w.version, ${version}::int AS run_version, w.run_cap_micros, w.overrun, s.plan,
             (${runsPerMonth}::json ->> s.plan)::bigint AS run_limit
      FROM share_budgets(${actor.workspaceId}) AS budgets(revision)
      CROSS JOIN workflows w JOIN workspaces s ON s.id = w.workspace_id
      WHERE w.id = ${request.workflowId} AND w.workspace_id = ${actor.workspaceId}
        AND (w.version = ${version} OR ${request.version !== undefined})
        AND (${comparedWith}::int IS NULL OR w.version = ${comparedWith}::int)
        AND (${toolRevision ?? null}::int IS NULL OR s.tool_revision = ${toolRevision ?? null}::int)
        -- They differ when a budget was created after this statement began.
        AND s.budget_revision = budgets.revision
      -- Waits for a deletion in progress.
      FOR KEY SHARE OF w
    ), ${claim}, claimed AS (
      SELECT * FROM workflow WHERE EXISTS (SELECT FROM claim)
    ), ${request.rehearsal === undefined ? countedRun : uncountedRun}, ${budgetSubject(request, runId)}, ${placeHolds(request.parent && sql.fragment`${request.parent.runId}`)}, ${refusedRun(refused, runnable)}, ${admittedRows(request, runnable, runId)}${copies.rows}${log.rows}
    SELECT ${summaryColumns}, (SELECT id FROM promise WHERE leased_until IS NOT NULL) AS outbox_id
    FROM run r JOIN workflows w ON w.id = r.workflow_id
    WHERE (SELECT count(*) FROM refused) + ${copies.lost} = 0
  `;
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
  runnable: Judged,
  afterBudgetLock: boolean,
): Promise<Admission | undefined> {
  const { workspaceId } = request.actor;
  const runId = newId('run');
  const statement = admission(request, runnable, runId);
  let row;
  try {
    row = await withCertainty(
      () => (afterBudgetLock ? afterBudgets(db, workspaceId, statement) : db.maybeOne(statement)),
      () => findAdmitted(db, runId),
    );
  } catch (error) {
    const reason = refusalOf(error)?.reason;
    if (reason === 'event' || reason === 'changed' || isTwice(error)) return undefined;
    const refusal = asRefusal(error, request, runnable);
    if (refusal instanceof BudgetExceeded) {
      await recordGovernanceEvent(db, {
        ...blockedVerdict(refusal.blocked),
        workspaceId,
        workflowId: request.workflowId,
        version: runnable.version,
      });
    }
    throw refusal;
  }
  if (row === null || runnable.graph === undefined) return undefined;
  return admissionOf(request, runnable.graph, row);
}

const oneOnly: ReadonlySet<string | null | undefined> = new Set([
  'runs_one_per_step',
  'runs_one_per_experiment',
  'inbound_event_replays_once',
]);

/** Another attempt at the same step, or of the same job, has started its run. */
const isTwice = (error: unknown): boolean =>
  error instanceof UniqueIntegrityConstraintViolationError && oneOnly.has(error.constraint);

function admissionOf(
  { actor, trigger, input, fork, rehearsal }: RunRequest,
  graph: Graph,
  row: z.infer<typeof admittedRow>,
): Admission {
  const { outbox_id, ...summary } = row;
  const runId = row.id;
  return {
    outcome: 'admitted',
    summary: toSummary(summary),
    ...(outbox_id === null
      ? {}
      : { outbox: { id: outbox_id, run_id: runId, kind: 'start', payload: {}, attempts: 0 } }),
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
      laid: fork?.laid ?? {},
      forked: fork?.copies !== undefined,
      reuses: Object.keys(fork?.digests ?? {}),
      ...(rehearsal === undefined ? {} : { rehearsal: rulesOf(rehearsal) }),
    },
  };
}
