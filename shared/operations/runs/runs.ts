import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import type { RunSummary } from '#shared/contract/runs/run.ts';
import { admitRun } from '#shared/db/runs/admission.ts';
import type { CompareChosen, FindRunnable } from '#shared/db/runs/run-request.ts';
import { adHocGraphOf, type RunActor, type RunRequest } from '#shared/db/runs/run-request.ts';
import { readDraft } from '#shared/db/workflows/drafts.ts';
import type { Decision } from '#shared/db/gates/decision.ts';
import * as gates from '#shared/db/gates/decisions.ts';
import * as ends from '#shared/db/runs/ends.ts';
import * as resumes from '#shared/db/runs/resumes.ts';
import type { Override } from '#shared/db/runs/resumes.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import type { OutboxRow } from '#shared/db/runs/outbox.ts';

import { AppError } from '#shared/errors.ts';
import { prepared, rechecked } from '#shared/operations/gates/check-decision.ts';
import type { RecheckDeps } from '#shared/operations/gates/gate-reads.ts';
import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import { compareWithCurrent, refusalOf } from '#shared/operations/guards/weakened-writes.ts';
import { dispatch, dispatchInOrder } from './dispatch.ts';
import type { DispatchDeps } from './executions.ts';
import { joinRun, recordStart } from '#shared/platform/tracing/requests.ts';
import { recordRunSpan } from './run-span.ts';
import { notifyParent } from '#shared/operations/children/notices.ts';
import { makeWay, startNextAfter } from '#shared/operations/limits/queues.ts';
import { requireOwnAccounts } from '#shared/operations/connections/used.ts';
import { bindDecision, type RequestedDecision } from './tool-calls.ts';

/**
 * The operations on runs. Each commits first and then notifies Temporal; when Temporal is unavailable the operation is
 * still committed, and the reconciler notifies Temporal later.
 */
export interface RunDeps extends DispatchDeps {
  findRunnable: FindRunnable;
}

export interface Dispatched {
  /** Resolves, never rejects: true once Temporal has been notified, false when the reconciler will do it. */
  dispatched: Promise<boolean>;
}

export interface Triggered extends Dispatched {
  runId: string;
  /** The newly admitted run, or the one that it joined; undefined if it is an earlier one. */
  admitted?: RunSummary;
  /** It joined a run that waited for further triggers. */
  joined?: true;
}

/**
 * Starts a run of a workflow's current version, or returns the run that this idempotency key started. When it returns,
 * the run is committed and will execute. Throws AppError `not_found`, `idempotency_mismatch`, `graph_invalid`,
 * `input_invalid`, and `forbidden` for a version or draft that requires less approval than the current version.
 */
export async function triggerRun(deps: RunDeps, request: RunRequest): Promise<Triggered> {
  const startedAt = Date.now();
  const compare = comparing(deps, request);
  const admission = await admitRun(deps.db, request, deps.findRunnable, compare);
  if (admission.outcome === 'replayed') {
    return { runId: admission.runId, dispatched: Promise.resolve(true) };
  }
  if (admission.outcome === 'joined') {
    const { summary } = admission;
    return {
      runId: summary.id,
      admitted: summary,
      joined: true,
      dispatched: Promise.resolve(true),
    };
  }
  const { run, summary, outbox } = admission;
  if (summary.queued?.for === 'concurrency') {
    void makeWay(deps, { workflow_id: request.workflowId, key: summary.queued.key });
  }
  recordStart({
    runId: run.runId,
    resumes: 0,
    startedAt,
    attributes: { 'ops.trigger': request.trigger },
  });
  // Within an act, it is not committed yet: then the dispatch reads the run, which waits for that.
  const known = request.withinAct === true ? undefined : run;
  const dispatched = outbox === undefined ? Promise.resolve(false) : dispatch(deps, outbox, known);
  return { runId: run.runId, admitted: summary, dispatched };
}

/**
 * Running a version or draft that requires less approval than the current version needs `publish_workflows`; otherwise
 * it would bypass the current version's gates. Steps that start runs were already compared, and rehearsals write
 * nothing where less approval is required.
 */
function comparing({ db }: RunDeps, request: RunRequest): CompareChosen | undefined {
  const { actor, workflowId, version, adHocGraph, parent, rehearsal } = request;
  if (version === undefined && adHocGraph === undefined) return undefined;
  if (parent !== undefined || rehearsal !== undefined || mayPublish(actor)) return undefined;
  const { workspaceId } = actor;
  return async ({ graph }) => {
    // Its refusal comes first.
    if (graph === undefined) return undefined;
    const compared = await compareWithCurrent(db, { workspaceId, workflowId, version, graph });
    if (compared === undefined) return undefined;
    return { current: compared.current, refusal: refusalOf({ version }, compared.less) };
  };
}

const mayPublish = ({ role, overrides = {} }: RunActor): boolean =>
  role !== undefined && holds(role, overrides, 'publish_workflows');

export interface StartRequest extends RunRequest {
  /** Runs the workflow's draft instead of its current version. */
  draft?: boolean | undefined;
}

/**
 * Starts a run for a member or program: of the current version, or of the draft as it is now. Throws AppError
 * `not_found`, also for a workflow without a draft, and those of `triggerRun`.
 */
export async function startRun(
  deps: RunDeps,
  { draft = false, ...request }: StartRequest,
): Promise<Triggered> {
  if (!draft) return triggerRun(deps, request);
  const { workflowId, actor } = request;
  const saved = await readDraft(deps.db, { workspaceId: actor.workspaceId, workflowId });
  return triggerRun(deps, {
    ...request,
    adHocGraph: adHocGraphOf(saved),
    audit: { action: 'run', details: { draft_revision: saved.revision } },
  });
}

/**
 * Decides an open gate: the oldest one, or that of `nodeId`, `stepKey` or `digest`. Throws AppError `not_found`,
 * `conflict`, `invalid`, and `forbidden` when the gate only lets others decide.
 */
export async function decideGate(
  deps: RunDeps & DryRunDeps,
  decision: RequestedDecision,
): Promise<Dispatched> {
  await requireOwnAccounts(deps, decision);
  const bound = await bindDecision(deps.db, decision);
  const outcome = await decideChecked(deps, bound);
  if (outcome.outcome === 'refused') throw new AppError('forbidden', outcome.reason);
  if (outcome.outcome === 'queued') await wakeStreams(deps, decision.runId);
  if (outcome.outcome !== 'decided') return { dispatched: Promise.resolve(true) };
  const { row, first } = outcome;
  joinRun(row.run_id);
  return dispatchAndWake(deps, row, first);
}

/** With what a recheck starts runs. */
export const rechecking = <Deps extends RunDeps>(deps: Deps): Deps & RecheckDeps => ({
  ...deps,
  recheckMs: deps.config.recheckMs,
  start: (request) => triggerRun(deps, request),
});

/**
 * Decides a gate. First its input is checked, what it sets in motion with it is found, and its reads are repeated, each
 * while no transaction is open.
 */
async function decideChecked(
  deps: RunDeps & DryRunDeps,
  decision: Decision,
): Promise<Exclude<gates.Outcome, { gate: unknown }>> {
  for (let next = decision; ;) {
    const outcome = await gates.decideGate(deps.db, next);
    switch (outcome.outcome) {
      case 'unrechecked':
        next = await rechecked(rechecking(deps), next, outcome.gate);
        break;
      case 'unchecked':
      case 'unshown':
        next = await prepared(deps, next, outcome);
        break;
      default:
        return outcome;
    }
  }
}

/**
 * Resumes a failed run from its last checkpoint; with `override`, without the budgets that stopped it. Throws AppError
 * `not_found`, `conflict`, `budget_exceeded`, `invalid`.
 */
export async function resumeRun(
  deps: DispatchDeps,
  resume: { actor: Actor; runId: string; override?: Override },
): Promise<Dispatched> {
  const startedAt = Date.now();
  const row = await resumes.resumeRun(deps.db, resume);
  if (row === undefined) {
    await wakeStreams(deps, resume.runId);
    return { dispatched: Promise.resolve(true) };
  }
  recordStart({ runId: row.run_id, resumes: Number(row.payload['n']), startedAt, attributes: {} });
  return dispatchAndWake(deps, row);
}

/** Ends a pending, running or paused run. Throws AppError `not_found`, `conflict`. */
export async function cancelRun(deps: DispatchDeps, cancel: ends.Cancel): Promise<Dispatched> {
  const alerts = deps.config.alerts.channels.length > 0;
  const { row, hasParent, hasSlot } = await ends.cancelRun(deps.db, { ...cancel, alerts });
  joinRun(row.run_id);
  await recordRunSpan(deps, row.run_id);
  if (hasParent) void notifyParent(deps, row.run_id);
  if (hasSlot) void startNextAfter(deps, row.run_id);
  return dispatchAndWake(deps, row);
}

/** Dispatches a row right after its commit, and wakes the streams of its run. */
export function dispatchAndWake(deps: DispatchDeps, row: OutboxRow, first?: boolean): Dispatched {
  const sent = Promise.all([dispatchInOrder(deps, row, first), wakeStreams(deps, row.run_id)]);
  return { dispatched: sent.then(([dispatched]) => dispatched) };
}

/** The action is committed: a stream that is not woken polls within a second. */
async function wakeStreams(deps: DispatchDeps, runId: string): Promise<void> {
  try {
    await notifyFrames(deps.db, [runId]);
  } catch (error) {
    deps.log.warn({ err: error, runId }, 'could not wake run streams');
  }
}
