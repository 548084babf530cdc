import { UniqueIntegrityConstraintViolationError } from 'slonik';
import { z } from 'zod';
import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { RunSummary, Trigger } from '#shared/contract/runs/run.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import { leastCostOf } from '#shared/graph/least-cost.ts';
import type { JsonObject } from '#shared/json.ts';
import { MAX_RUN_DEPTH, tooDeep } from '#shared/limits.ts';
import { newId } from '#shared/crypto/ids.ts';
import { planNames, plans } from '#shared/people/plans.ts';
import { recordGovernanceEvent } from '#shared/db/policies/governance.ts';
import { asBudgetError, blockedVerdict, BudgetExceeded } from '#shared/db/money/blocked.ts';
import { LEASE_MS, type OutboxRow } from './outbox.ts';
import { MOST_PENDING } from '#shared/db/children/starts.ts';
import { withCertainty } from '#shared/db/commit-outcome.ts';
import { jsonOrNull, type Pool, refusalOf, sql, statement } from '#shared/db/pool.ts';
import { requireSchedule } from '#shared/db/schedules/schedules.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';
import { requireRunningJob } from '#shared/db/jobs/jobs.ts';
import { admitStarted } from '#shared/db/events/starts.ts';
import { findReplay, fingerprintOf, keyOf, requireParent } from './admission-claims.ts';
import { copied } from '#shared/db/forks/copies.ts';
import {
  type CompareChosen,
  type FindRunnable,
  rulesOf,
  type Runnable,
  type RunRequest,
  storedRehearsal,
  type UnderLimits,
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
  /** What is merged into the state at steps, by step key. */
  laid: Record<string, JsonObject>;
  /** Whether its ledger already has steps of another run. */
  forked: boolean;
  /** The steps that reuse the result of the run it starts from, if their node and input are the same. */
  reuses: readonly string[];
  /** The rules by which it rehearses another run; undefined for an ordinary run. */
  rehearsal?: ReturnType<typeof rulesOf>;
}

export type Admission =
  /** Without an outbox row to dispatch, the run is started later. */
  | { outcome: 'admitted'; run: AdmittedRun; summary: RunSummary; outbox?: OutboxRow }
  /** It counts for a run that waits for further triggers. */
  | { outcome: 'joined'; summary: RunSummary }
  | { outcome: 'replayed'; runId: string };

/**
 * The only way to create a run, for all triggers. It makes one call of the database function `admit_run_2`, which shows
 * the order of the checks and rows. A refusal writes nothing except, for a budget, its governance event. Graph and
 * input were checked before. The call only succeeds while that version and the custom tools that it calls are still
 * current, even after a wait for locks; otherwise the workflow is read again.
 *
 * A graph that was chosen instead of the current version is first compared with the current version, if necessary; then
 * the call only succeeds while that version is current.
 *
 * Throws AppError: `not_found`, `idempotency_mismatch`, `forbidden`, `quota_exceeded`, `budget_exceeded`,
 * `graph_invalid`, `input_invalid`, and `conflict` when the schedule forbids a second active run or all slots of its key
 * are taken; RunSkipped, if such a run is skipped. A second run for the same schedule and
 * time breaks the constraint `runs_one_per_tick`.
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
    version: request.version,
    adHocGraph: request.adHocGraph,
  };
  for (let fresh = false; ; fresh = true) {
    const runnable = await findRunnable(db, ids, fresh);
    // A refusal based on the cache may be out of date.
    if (runnable?.refusal !== undefined && !fresh) continue;
    if (runnable !== undefined) {
      const limited = await limitsFor(runnable, request);
      const inputRefusal = (await runnable.refuseInput?.(request.input)) ?? limited.refusal;
      const compared = await compareChosen?.(runnable);
      if (compared?.refusal !== undefined) {
        const earlier = await findReplay(db, request);
        if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
        throw compared.refusal;
      }
      const judged = {
        ...runnable,
        inputRefusal,
        comparedWith: compared?.current,
        under: limited.under,
      };
      const admitted = await insertRun(db, request, judged);
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

const admittedRow = z.object({
  ...summaryRow.shape,
  outbox_id: z.number().nullable(),
  joined: z.boolean(),
});

/** Finds the run of an admission whose response was lost. */
async function findAdmitted(db: Pool, runId: string) {
  return db.maybeOne(statement(admittedRow)`
    SELECT ${summaryColumns},
           (SELECT id FROM outbox WHERE run_id = r.id AND kind = 'start' AND leased_until IS NOT NULL) AS outbox_id,
           false AS joined
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE r.id = ${runId}
  `);
}

const runsPerMonth = JSON.stringify(
  Object.fromEntries(planNames.map((name) => [name, plans[name].runsPerMonth])),
);

const quotaFacts = z.object({ used: z.number(), limit: z.number(), plan: z.string() });

const capFacts = z.object({ committed_micros: z.number(), limit_micros: z.number() });

/** The minimum cost of a run that costs anything, in micro-dollars; null: it costs nothing. */
const leastCost = ({ rehearsal }: RunRequest, { graph }: Judged): number | null =>
  graph === undefined || rehearsal?.allow.includes('agent') === false ? null : leastCostOf(graph);

/** A version, and why it does not accept the input of the request. */
type Judged = Runnable & {
  inputRefusal: AppError | undefined;
  /** The version it was compared with. It must be current, or the comparison does not count. */
  comparedWith: number | undefined;
  under: UnderLimits | undefined;
};

/** Rehearsals have no limits. */
const isLimited = ({ rehearsal }: RunRequest): boolean => rehearsal === undefined;

/** What asks for a run of its own does not share one: a step, a rerun, a fork, a replay, a draft or a chosen version. */
const isDebounced = ({ parent, fork, replay, version, adHocGraph }: RunRequest): boolean =>
  [parent, fork, replay, version, adHocGraph].every((asked) => asked === undefined);

/** What the limits of its workflow mean for the run, or why it cannot run under them. */
async function limitsFor(
  { limits }: Runnable,
  request: RunRequest,
): Promise<{ under?: UnderLimits; refusal?: AppError }> {
  if (limits === undefined || !isLimited(request)) return {};
  try {
    const under = await limits.of(request.input);
    if (isDebounced(request) || under.place?.debounce === undefined) return { under };
    const { debounce: _debounce, ...place } = under.place;
    return { under: { ...under, place } };
  } catch (error) {
    if (error instanceof AppError && error.code === 'input_invalid') return { refusal: error };
    throw error;
  }
}

const slotFacts = z.object({
  limit: z.number(),
  key: z.string(),
  on_limit: z.enum(['reject', 'skip']).optional(),
});

/** A run that was refused, because all slots of its key are taken. */
export class LimitReached extends AppError {
  constructor(detail: string) {
    super('conflict', detail);
  }
}

/** A run that was refused, and is skipped without an error where that is possible. */
export class RunSkipped extends LimitReached {}

function asFull(facts: unknown): AppError {
  const { limit, key, on_limit } = slotFacts.parse(facts);
  const inFlight = limit === 1 ? 'One run' : `${limit} runs`;
  const of = key === '' ? '' : ` with the key '${key}'`;
  const full = `${inFlight} of this workflow${of} ${limit === 1 ? 'is' : 'are'} in flight, which is its limit`;
  if (on_limit === 'skip') return new RunSkipped(full);
  if (on_limit === 'reject') return new LimitReached(full);
  return conflict(
    `${full}, and a run above this one is one of them, so that it would wait for itself`,
  );
}

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
      return conflict(tooDeep);
    case 'source':
      return conflict(
        'The run that it starts from was deleted, or its steps have changed: try again',
      );
    case 'full':
    case 'ancestor':
      return asFull(refusal.facts);
    case 'overlap':
      return conflict('The previous run of this schedule has not ended');
    default:
      return asBudgetError(error);
  }
}

const entries = (record: object | undefined) =>
  record === undefined || Object.keys(record).length === 0 ? undefined : record;

/** The only statement of an admission. There is no row when the function returned nothing. */
function admission(request: RunRequest, runnable: Judged, runId: string) {
  const { actor, parent, schedule, replay, signature, event, fork, rehearsal, inbound } = request;
  const { version, comparedWith = null, toolRevision = null } = runnable;
  const key = keyOf(request);
  const refusal =
    runnable.graph === undefined ? 'graph' : runnable.inputRefusal === undefined ? null : 'input';
  const action: AuditAction = request.audit?.action ?? 'run';
  const details = { run_id: runId, trigger: request.trigger, ...request.audit?.details };
  return statement(admittedRow)`
    SELECT ${summaryColumns}, a.outbox_id, a.joined
    FROM admit_run_2(
      run => ${runId}, workspace => ${actor.workspaceId}, workflow => ${request.workflowId},
      trigger => ${request.trigger}, input => ${JSON.stringify(request.input)},
      actor => ${actor.id}, actor_name => ${actor.name},
      version => ${version}, chosen => ${request.version !== undefined},
      compared_with => ${comparedWith}, tools => ${toolRevision},
      limits_revision => ${(isLimited(request) ? runnable.limits?.revision : undefined) ?? null}, place => ${jsonOrNull(runnable.under?.place)},
      cancel_on => ${jsonOrNull(runnable.under?.cancelOn)}, refusal => ${refusal},
      budgeted => ${rehearsal?.allow.includes('agent') ?? true}, least_micros => ${leastCost(request, runnable)},
      parent => ${parent?.runId ?? null}, parent_step => ${parent?.stepKey ?? null},
      parent_execution => ${parent?.execution ?? null}, parent_attempt => ${parent?.attempt ?? null},
      experiment => ${request.experimentId ?? null},
      schedule => ${schedule?.id ?? null}, due => ${schedule?.dueAt ?? null},
      job => ${replay?.jobId ?? null}, replayed_event => ${replay?.eventId ?? null},
      signature => ${signature === undefined ? null : sql.binary(signature.hash)},
      signed_at => ${signature?.signedAt ?? null},
      event => ${event?.id ?? null}, event_window_seconds => ${event?.windowSeconds ?? null},
      key => ${key ?? null}, fingerprint => ${key === undefined ? null : fingerprintOf(request)},
      source => ${fork?.sourceId ?? null}, source_step => ${fork?.fromStep ?? null},
      laid => ${jsonOrNull(entries(fork?.laid))},
      graph => ${jsonOrNull(request.adHocGraph && runnable.graph)},
      rehearsal => ${jsonOrNull(storedRehearsal(rehearsal))},
      copies => ${jsonOrNull(fork?.copies && copied(fork.copies))}, digests => ${jsonOrNull(rehearsal?.digests ?? fork?.digests)},
      audit => ${newId('audit')}, audit_action => ${action}, audit_details => ${JSON.stringify(details)},
      inbound => ${inbound?.id ?? null}, inbound_event => ${inbound?.eventId ?? null},
      inbound_source => ${inbound?.source ?? null}, inbound_headers => ${jsonOrNull(inbound?.headers)},
      inbound_size => ${inbound?.size ?? null}, inbound_body => ${inbound?.body == null ? null : sql.binary(inbound.body)},
      run_limits => ${runsPerMonth}, max_depth => ${MAX_RUN_DEPTH}, most_pending => ${MOST_PENDING}, lease_ms => ${LEASE_MS}
    ) AS a
    CROSS JOIN LATERAL (SELECT (a.admitted).*) AS r
    CROSS JOIN LATERAL (SELECT a.workflow_name AS name) AS w
    WHERE r.id IS NOT NULL
  `;
}

/** Ends the transaction of an admission that returned nothing, so that it can be tried again. */
class NothingAdmitted extends AppError {}

function nothingAdmitted(): never {
  throw new NothingAdmitted('conflict', 'The run was not admitted');
}

/**
 * Undefined, with nothing written, when the version is no longer current, the workflow was deleted, its custom tools
 * may have changed, the workflow or its workspace changed during a wait, the request's claim is taken, or the step or
 * job that starts the run has ended.
 */
async function insertRun(
  db: Pool,
  request: RunRequest,
  runnable: Judged,
): Promise<Admission | undefined> {
  const { workspaceId } = request.actor;
  const runId = newId('run');
  const statement = admission(request, runnable, runId);
  let row;
  try {
    row =
      request.withinAct === true
        ? await db.transaction(async (tx) => (await tx.maybeOne(statement)) ?? nothingAdmitted())
        : await withCertainty(
            () =>
              request.start === undefined
                ? db.maybeOne(statement)
                : admitStarted(db, request.start, statement),
            () => findAdmitted(db, runId),
          );
  } catch (error) {
    if (error instanceof NothingAdmitted) return undefined;
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

/** Whether another attempt at the same step, or of the same job, has already started its run. */
const isTwice = (error: unknown): boolean =>
  error instanceof UniqueIntegrityConstraintViolationError && oneOnly.has(error.constraint);

function admissionOf(
  { actor, trigger, input, fork, rehearsal }: RunRequest,
  graph: Graph,
  row: z.infer<typeof admittedRow>,
): Admission {
  const { outbox_id, joined, ...summary } = row;
  if (joined) return { outcome: 'joined', summary: toSummary(summary) };
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
